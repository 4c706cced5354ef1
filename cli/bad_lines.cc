#include "cli/bad_lines.h"

#include <fmt/format.h>

#include <cstdio>

namespace phsic {
namespace {

constexpr std::uint64_t kTold = 10;

}  // namespace

void BadLines::add(std::string_view file, std::uint64_t line, std::string_view problem) {
  const auto message = fmt::format("{}:{}: {}", file, line, problem);
  if (policy_ == BadLinePolicy::kFail) throw BadLineError(message);
  if (++count_ > kTold) return;
  progress_.erase();
  fmt::print(stderr, "phsic: {}\n", message);
  if (count_ == kTold) fmt::print(stderr, "phsic: further bad lines are only counted\n");
}

void BadLines::summarize() const {
  if (count_ == 0) return;
  progress_.erase();
  fmt::print(stderr, "phsic: {} bad line{}, {}\n", count_, count_ == 1 ? "" : "s",
             policy_ == BadLinePolicy::kDrop ? "left out" : "not used");
}

}  // namespace phsic
