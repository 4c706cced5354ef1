// Lines that cannot be used: told on standard error, counted, and fatal if the user wants it so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/table/progress.h"
#include "core/error.h"

namespace phsic {

enum class BadLinePolicy : std::uint8_t {
  kSkip,  // neither scored nor learned; kept in the output, in its place, with nan for a score
  kDrop,  // ... and left out of the output
  kFail,  // the first one ends the run
};

// What kFail throws.
class BadLineError : public Error {
 public:
  using Error::Error;
};

// Nothing of a table, or nearly nothing, could be used.
class UselessTableError : public Error {
 public:
  using Error::Error;
};

class BadLines {
 public:
  // The progress, whose line is taken away before a message, must outlive this.
  BadLines(BadLinePolicy policy, Progress& progress) : policy_(policy), progress_(progress) {}

  [[nodiscard]] BadLinePolicy policy() const { return policy_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  // Prints "FILE:LINE: PROBLEM" for the first few, or throws it.
  void add(std::string_view file, std::uint64_t line, std::string_view problem);
  // Says how many there were, if there were any.
  void summarize() const;
  // Throws a UselessTableError if more than nine in ten of the file's `lines` are bad, or are among
  // the `idle`, which are good and of no use all the same: `why` says why.
  void require_use(std::string_view file, std::uint64_t lines, std::uint64_t idle = 0,
                   std::string_view why = {}) const;

 private:
  BadLinePolicy policy_;
  Progress& progress_;
  std::uint64_t count_ = 0;
  std::string first_;  // what was wrong with the first one
};

}  // namespace phsic
