#include "cli/table/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <utility>

namespace phsic {
namespace {

constexpr double kInterval = 0.1;                   // seconds between two looks
constexpr std::string_view kEraseToEnd = "\x1b[K";  // of the terminal's line
constexpr std::string_view kEraseLine = "\r\x1b[K";

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// h:mm:ss or m:ss
std::string clock_text(double seconds) {
  constexpr double kLongest = 359999;  // 99:59:59
  const auto whole = static_cast<int>(std::clamp(seconds, 0.0, kLongest));
  const int hours = whole / 3600;
  const int minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace

Progress::Progress() : Progress(std::cerr, ::isatty(STDERR_FILENO) == 1, steady_seconds) {}

Progress::Progress(std::ostream& stream, bool is_terminal, Clock clock)
    : stream_(stream),
      is_terminal_(is_terminal),
      clock_(std::move(clock)),
      start_(clock_()),
      shown_(start_) {}

Progress::~Progress() { erase(); }

void Progress::update(std::uint64_t lines, std::uint64_t bytes, std::optional<std::uint64_t> size) {
  if (!is_terminal_) return;
  const double now = clock_();
  if (now - shown_ < kInterval) return;
  shown_ = now;
  visible_ = true;
  const double elapsed = now - start_;
  std::string text =
      fmt::format("\r{} lines, {:.0f} lines/s", lines, static_cast<double>(lines) / elapsed);
  if (size.value_or(0) > 0 && bytes > 0) {
    const double done = std::min(static_cast<double>(bytes) / static_cast<double>(*size), 1.0);
    text += fmt::format(", {:.0f}%, {} left", 100 * done, clock_text(elapsed * (1 - done) / done));
  }
  text += kEraseToEnd;
  stream_ << text << std::flush;
}

void Progress::erase() {
  if (!std::exchange(visible_, false)) return;
  stream_ << kEraseLine << std::flush;
}

}  // namespace phsic
