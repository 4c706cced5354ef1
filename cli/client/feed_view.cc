#include "cli/client/feed_view.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "wire/printable.h"

namespace phsic {
namespace {

// A daemon that has crashed goes on at least so far beyond the last number (docs/protocol.md).
constexpr std::uint64_t kJump = std::uint64_t{1} << 31U;

// What follows the last slash of "chat/score".
std::string_view kind_of(std::string_view topic) {
  const auto slash = topic.rfind('/');
  return slash == std::string_view::npos ? topic : topic.substr(slash + 1);
}

// Of the day, in UTC: 14:03:59.125
std::string clock_text(double time) {
  constexpr double kMost = 1e11;  // beyond it fmt cannot follow
  if (!(std::abs(time) < kMost)) return fmt::format("{:.3f}", time);
  const auto whole = std::floor(time);
  const auto seconds = static_cast<std::time_t>(whole);
  const auto rest = std::min(static_cast<int>((time - whole) * 1000), 999);
  return fmt::format("{:%H:%M:%S}.{:03}", fmt::gmtime(seconds), rest);
}

// As it was written: a text without its quotation marks, a number as it is.
std::string plain(const simdjson::dom::element& value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return quote(text);
  double number = 0;
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) return fmt::format("{}", whole);
  if (value.get(number) == simdjson::SUCCESS) return fmt::format("{:.6g}", number);
  return printable(simdjson::minify(value));
}

// Everything that is not shown already, as name=value. `shed` is the older name of `overloaded`,
// and shown where that is missing.
std::string describe_event(const JsonObject& message) {
  std::string line = printable(message.find_text("event").value_or("?"));
  const bool has_overloaded = message.find("overloaded").has_value();
  for (const auto [name, value] : message.members()) {
    if (name == "seq" || name == "event" || name == "time") continue;
    if (name == "shed" && has_overloaded) continue;
    line += fmt::format(" {}={}", printable(name), plain(value));
  }
  return line;
}

// What is on one scale for the life of a stream comes before the raw score.
std::string describe_score(const JsonObject& message) {
  const auto percentile = message.find_number("percentile");
  auto line = percentile ? fmt::format("{:>5.1f}%", 100 * *percentile) : fmt::format("{:>6}", "-");
  const auto p_value = message.find_number("p_value");
  if (const auto quality = message.find_number("quality")) {
    line += fmt::format("  quality {:<5.3f}", *quality);
  }
  line += p_value ? fmt::format("  p {:<8.2g}", *p_value) : fmt::format("  p {:<8}", "-");
  const auto score = message.find_number("score");
  line += score ? fmt::format(" {:>10.4f}", *score) : fmt::format(" {:>10}", "-");
  if (const auto reason = message.find_text("reason")) {
    line += fmt::format("  {}", printable(*reason));
  }
  if (const auto id = message.find("id")) line += fmt::format("  {}", plain(*id));
  const auto x = message.find_text("x");
  const auto y = message.find_text("y");
  if (x && y) line += fmt::format("  {} | {}", quote(*x), quote(*y));
  if (const auto problem = message.find_text("problem")) {
    line += fmt::format("  {}", printable(*problem));
  }
  return line;
}

}  // namespace

bool FeedFilter::wants_topic(std::string_view topic) const {
  return topics.empty() || std::find(topics.begin(), topics.end(), kind_of(topic)) != topics.end();
}

bool FeedFilter::wants(std::string_view topic, const JsonObject& message) const {
  if (!wants_topic(topic)) return false;
  if (kind_of(topic) == "event") return true;
  const auto fits = [&](std::string_view name, const std::optional<double>& least,
                        const std::optional<double>& most, const auto& is_less) {
    if (!least && !most) return true;
    const auto value = message.find_number(name);
    return value && (!least || is_less(*least, *value)) && (!most || is_less(*value, *most));
  };
  return fits("percentile", min_percentile, max_percentile, std::less_equal<>()) &&
         fits("p_value", min_p, max_p, std::less_equal<>()) &&
         fits("score", above, below, std::less<>());
}

std::string GapFinder::look(std::string_view topic, const JsonObject& message) {
  const auto seq = message.find_count("seq");
  if (!seq) return {};
  const auto found = last_.find(topic);
  if (found == last_.end()) {
    last_.emplace(topic, *seq);
    return {};
  }
  const auto last = std::exchange(found->second, *seq);
  if (*seq <= last) return fmt::format("-- {} begins anew", printable(topic));
  const auto gap = *seq - last - 1;
  if (gap == 0) return {};
  if (gap >= kJump) return fmt::format("-- {} goes on after a crash", printable(topic));
  lost_ += gap;
  return fmt::format("-- {} message{} of {} lost", gap, gap == 1 ? "" : "s", printable(topic));
}

bool names_its_pair(std::string_view topic, const JsonObject& message) {
  return kind_of(topic) == "event" || message.find("id") || message.find("x");
}

std::string describe_feed(std::string_view topic, const JsonObject& message) {
  const auto time = message.find_number("time");
  return fmt::format("{:<12} {:<16} {}", time ? clock_text(*time) : "", printable(topic),
                     kind_of(topic) == "event" ? describe_event(message) : describe_score(message));
}

}  // namespace phsic
