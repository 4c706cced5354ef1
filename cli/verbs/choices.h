// Lines of a context and its candidates, scored many at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/session/session.h"

namespace phsic {

// One line. Valid during the call that brings it.
struct ScoredChoices {
  std::uint64_t line = 0;
  std::string_view context;
  std::vector<std::string_view> candidates;
  std::vector<double> scores;  // of each candidate
  std::string problem;         // if not empty, there are no scores
  std::vector<LeftOut> left_out;
};

// Learns the table `learn`, unless it is empty, scores the candidates of each line of `input` and
// hands the lines to `take`, in order. TSV: context, candidate, candidate, ... JSONL: members x and
// candidates. Tells on standard error which views were left out, and returns what the stream knows
// of itself. Throws a UselessTableError if nearly no line
// of one of the two was of use.
StreamFacts score_choices(const std::string& learn, const std::string& input,
                          const TableArguments& table, const ModelArguments& model,
                          const std::function<void(const ScoredChoices&)>& take);

}  // namespace phsic
