#include "cli/choices.h"

#include <fmt/format.h>

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

}  // namespace

ChoicesReader::ChoicesReader(const std::string& path, const TableArguments& arguments,
                             const Stream& stream, std::size_t threads, BadLines& bad_lines,
                             Progress& progress)
    : table_(path, options_for(arguments)),
      stream_(stream),
      threads_(threads),
      bad_lines_(bad_lines),
      progress_(progress) {}

const std::vector<ScoredChoices>& ChoicesReader::next() {
  choices_.resize(table_.read(rows_, kRows));
  for_each_in_parallel(choices_.size(), threads_, [&](std::size_t i) { take_row(i, choices_[i]); });
  for (const auto& choices : choices_) {
    if (!choices.problem.empty()) {
      bad_lines_.add(table_.lines().name(), choices.line, choices.problem);
    }
  }
  rows_read_ += choices_.size();
  progress_.update(rows_read_, table_.lines().bytes_read(), table_.lines().size());
  return choices_;
}

void ChoicesReader::take_row(std::size_t i, ScoredChoices& choices) const {
  choices.line = rows_.line_number(i);
  choices.problem = rows_.problem(i);
  choices.candidates.clear();
  choices.scores.clear();
  if (!choices.problem.empty()) return;
  choices.context = rows_.field(i, 0);
  for (std::size_t c = 1; c < rows_.field_count(i); ++c) {
    choices.candidates.push_back(rows_.field(i, c));
  }
  choices.scores.resize(choices.candidates.size());
  std::vector<PairProblem> problems;
  stream_.rank(choices.context, choices.candidates, choices.scores.data(), problems);
  if (problems.empty()) return;
  const auto& [row, message] = problems.front();
  choices.problem = row == Stream::kNoRow ? fmt::format("the context: {}", message)
                                          : fmt::format("candidate {}: {}", row + 1, message);
  choices.scores.clear();
}

}  // namespace phsic
