#include "cli/verbs/choices.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/session/left_out_tally.h"
#include "cli/session/local_session.h"
#include "cli/table/bad_lines.h"
#include "cli/table/pair_table.h"
#include "cli/table/progress.h"
#include "cli/table/table.h"
#include "engine/parallel.h"

namespace phsic {
namespace {

constexpr std::size_t kRows = 256;

TableOptions options_for(const TableArguments& arguments) {
  TableOptions options;
  options.format = arguments.format;
  options.header = arguments.header;
  options.columns = {{"x"}, {"candidates"}};
  options.all_fields = true;
  return options;
}

void score_row(const Session& stream, const RowBatch& rows, std::size_t i, ScoredChoices& choices) {
  choices.line = rows.line_number(i);
  choices.problem = rows.problem(i);
  choices.candidates.clear();
  choices.scores.clear();
  choices.left_out.clear();
  if (!choices.problem.empty()) return;
  choices.context = rows.field(i, 0);
  for (std::size_t c = 1; c < rows.field_count(i); ++c) {
    choices.candidates.push_back(rows.field(i, c));
  }
  choices.scores.resize(choices.candidates.size());
  std::vector<PairProblem> problems;
  stream.rank(choices.context, choices.candidates, choices.scores.data(), problems,
              choices.left_out);
  if (problems.empty()) return;
  const auto& [row, message] = problems.front();
  choices.problem = row == PairProblem::kNoRow ? fmt::format("the context: {}", message)
                                               : fmt::format("candidate {}: {}", row + 1, message);
  choices.scores.clear();
  choices.left_out.clear();
}

}  // namespace

StreamFacts score_choices(const std::string& learn, const std::string& input,
                          const TableArguments& table, const ModelArguments& model,
                          const std::function<void(const ScoredChoices&)>& take) {
  require_two_inputs(learn, input);
  StreamSpec spec;
  const auto stream = model.open(table, &spec);
  // The model is built once. Several views rank better together with all directions.
  if (auto* const own = dynamic_cast<LocalSession*>(stream.get());
      own != nullptr && !learn.empty() && spec.views.size() > 1) {
    own->take_all_directions();
  }
  if (!learn.empty()) learn_table(*stream, learn, table, spec.learns_identical);
  Table lines(input, options_for(table));
  Progress progress;
  BadLines bad_lines(table.bad_lines, progress);
  RowBatch rows;
  std::vector<ScoredChoices> choices(kRows);
  LeftOutTally left_out;
  std::uint64_t done = 0;
  while (const auto count = lines.read(rows, kRows)) {
    for_each_in_parallel(count, model.thread_count(),
                         [&](std::size_t i) { score_row(*stream, rows, i, choices[i]); });
    progress.erase();  // before anything is written
    for (std::size_t i = 0; i < count; ++i) {
      const auto& line = choices[i];
      if (!line.problem.empty()) bad_lines.add(lines.lines().name(), line.line, line.problem);
      left_out.add(line.left_out);
      take(line);
    }
    done += count;
    progress.update(done, lines.lines().bytes_read(), lines.lines().size());
  }
  std::fputs(left_out.describe().c_str(), stderr);
  std::fputs(stream->blind_views().c_str(), stderr);
  bad_lines.summarize();
  bad_lines.require_use(lines.lines().name(), done);
  return stream->facts();
}

}  // namespace phsic
