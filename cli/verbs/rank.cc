#include "cli/verbs/rank.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/verbs/choices.h"
#include "wire/printable.h"

namespace phsic {
namespace {

// Six digits, as in every other output.
double rounded(double score) { return std::stod(fmt::format("{:.6g}", score)); }

std::string describe_choices(const ScoredChoices& choices) {
  nlohmann::ordered_json line;
  line["line"] = choices.line;
  if (!choices.problem.empty()) {
    line["error"] = choices.problem;
  } else {
    std::vector<std::size_t> order(choices.candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return choices.scores[a] > choices.scores[b];
    });
    line["x"] = choices.context;
    auto& ranking = line["ranking"] = nlohmann::ordered_json::array();
    for (const auto j : order) {
      ranking.push_back({{"candidate", j + 1},
                         {"score", rounded(choices.scores[j])},
                         {"y", choices.candidates[j]}});
    }
  }
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void RankArguments::add_to(CLI::App& verb) {
  verb.add_option("INPUT", input,
                  "lines of context and candidates with tabs between them, or JSONL with x and "
                  "candidates; - for standard input (default)");
  verb.add_option("--learn", learn, "table of pairs to learn from, unless there is a --model")
      ->type_name("FILE");
  table.add_to(verb, TableUse::kReadAndWritten);
  model.add_to(verb);
  verb.footer(
      "Writes a JSON object for each line:\n"
      "  "
      "{\"line\":1,\"x\":\"...\",\"ranking\":[{\"candidate\":3,\"score\":7.1,\"y\":\"...\"},...]}\n"
      "where candidate counts from 1 as in the input. A bad line becomes {\"line\":N,\"error\":"
      "\"...\"}.\n\n"
      "Examples:\n"
      "  phsic rank --learn dialogues.tsv.gz replies.tsv > ranked.jsonl\n"
      "  phsic rank --model dialogues.phsic replies.tsv\n"
      "  phsic rank --learn dialogues.tsv.gz --encoder wordvec:file=glove.txt.gz replies.tsv");
}

void run_rank(const RankArguments& arguments) {
  arguments.model.require_something_to_learn(arguments.learn);
  score_choices(arguments.learn, arguments.input, arguments.table, arguments.model,
                [&](const ScoredChoices& line) {
                  const bool drops = arguments.table.bad_lines == BadLinePolicy::kDrop;
                  if (line.problem.empty() || !drops)
                    fmt::print("{}\n", for_output(describe_choices(line)));
                });
}

}  // namespace phsic
