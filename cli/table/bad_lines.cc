#include "cli/table/bad_lines.h"

#include <fmt/format.h>

#include <cstdio>

#include "wire/printable.h"

namespace phsic {
namespace {

constexpr std::uint64_t kTold = 10;
constexpr std::uint64_t kUsefulPart = 10;  // one line in so many must be of use

}  // namespace

void BadLines::add(std::string_view file, std::uint64_t line, std::string_view problem) {
  const auto message = fmt::format("{}:{}: {}", file, line, problem);
  if (policy_ == BadLinePolicy::kFail) throw BadLineError(message);
  if (++count_ == 1) first_ = fmt::format("line {}: {}", line, problem);
  if (count_ > kTold) return;
  progress_.erase();
  fmt::print(stderr, "phsic: {}\n", printable(message));
  if (count_ == kTold) fmt::print(stderr, "phsic: further bad lines are only counted\n");
}

void BadLines::summarize() const {
  if (count_ == 0) return;
  progress_.erase();
  fmt::print(stderr, "phsic: {} bad line{}, {}\n", count_, count_ == 1 ? "" : "s",
             policy_ == BadLinePolicy::kDrop ? "left out" : "not used");
}

void BadLines::require_use(std::string_view file, std::uint64_t lines, std::uint64_t idle,
                           std::string_view why) const {
  const auto useless = count_ + idle;
  if (kUsefulPart * useless <= (kUsefulPart - 1) * lines) return;
  std::string parts;
  if (count_ > 0) parts = fmt::format("; {} bad, the first is {}", count_, first_);
  if (idle > 0) parts += fmt::format("; {} {}", idle, why);
  throw UselessTableError(
      fmt::format("{}: found {} of {} lines to be of no use, expected one in {} that can be used{}",
                  file, useless, lines, kUsefulPart, parts));
}

}  // namespace phsic
