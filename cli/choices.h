// Lines of a context and its candidates, scored many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/bad_lines.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "engine/stream.h"

namespace phsic {

// One line. Valid until the next call of next().
struct ScoredChoices {
  std::uint64_t line = 0;
  std::string_view context;
  std::vector<std::string_view> candidates;
  std::vector<double> scores;  // of each candidate
  std::string problem;         // if not empty, there are no scores
};

class ChoicesReader {
 public:
  // TSV: context, candidate, candidate, ... JSONL: members x and candidates. Stream, bad lines and
  // progress must outlive this.
  ChoicesReader(const std::string& path, const TableArguments& arguments, const Stream& stream,
                std::size_t threads, BadLines& bad_lines, Progress& progress);

  // Some further lines, in order; empty at the end.
  [[nodiscard]] const std::vector<ScoredChoices>& next();

 private:
  void take_row(std::size_t i, ScoredChoices& choices) const;

  Table table_;
  const Stream& stream_;
  std::size_t threads_;
  BadLines& bad_lines_;
  Progress& progress_;
  RowBatch rows_;
  std::vector<ScoredChoices> choices_;
  std::uint64_t rows_read_ = 0;
};

}  // namespace phsic
