#include "cli/verbs/top.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <thread>

#include "cli/interrupt.h"
#include "cli/verbs/stats_table.h"
#include "wire/printable.h"

namespace phsic {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kToTheTop = "\x1b[H";
constexpr std::string_view kClear = "\x1b[2J";
constexpr std::string_view kClearToEndOfLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

std::string number(const std::optional<double>& value, std::string_view format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

// Per second. A daemon that began anew counts from 0.
std::string rate(const std::optional<JsonObject>& before, const JsonObject& now,
                 std::string_view name, double seconds) {
  if (!before) return "-";
  const auto was = before->find_number(name);
  const auto is = now.find_number(name);
  if (!was || !is || *is < *was || seconds <= 0) return "-";
  return fmt::format("{:.1f}", (*is - *was) / seconds);
}

std::vector<std::string> row_of(std::string_view name, const std::optional<JsonObject>& before,
                                const JsonObject& now, double seconds) {
  const auto latency = now.find_object("latency");
  const auto milliseconds = [&](std::string_view quantile) {
    const auto value = latency ? latency->find_number(quantile) : std::nullopt;
    return value ? fmt::format("{:.2f}", 1000 * *value) : "-";
  };
  const auto count = [&](std::string_view member) {
    const auto value = now.find_count(member);
    return value ? fmt::format("{}", *value) : "-";
  };
  return {printable(name),
          rate(before, now, "scored", seconds),
          rate(before, now, "pairs", seconds),
          milliseconds("p50"),
          milliseconds("p99"),
          count("queue"),
          count("pairs"),
          count("model"),
          number(now.find_number("self_auc"), "{:.3f}"),
          number(now.find_number("hsic"), "{:.3g}"),
          count("drifts"),
          number(now.find_number("drift_p_value"), "{:.2g}"),
          count("flagged"),
          count("overloaded")};
}

// A row for each view of a stream; none where there is one view.
void add_views(std::string_view name, const JsonObject& stream,
               std::vector<std::vector<std::string>>& rows) {
  const auto weights = stream.find_object("view_weights");
  if (!weights) return;
  const auto aucs = stream.find_object("view_self_aucs");
  for (const auto member : weights->members()) {
    const auto auc = aucs ? aucs->find_number(member.key) : std::nullopt;
    rows.push_back({printable(name), printable(member.key),
                    number(weights->find_number(member.key), "{:.2f}"), number(auc, "{:.3f}")});
  }
}

// Over what was there before, which blinks less than an empty screen in between.
std::string on_screen(std::string_view text) {
  std::string screen(kToTheTop);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    screen += text.substr(at, end - at);
    screen += kClearToEndOfLine;
    screen += '\n';
    at = end + 1;
  }
  return screen += kClearBelow;
}

// False if Ctrl-C came first.
bool sleep_until(Clock::time_point when) {
  while (Clock::now() < when) {
    if (Interrupt::is_wanted()) return false;
    std::this_thread::sleep_until(std::min(when, Clock::now() + kInterruptLook));
  }
  return !Interrupt::is_wanted();
}

}  // namespace

void TopArguments::add_to(CLI::App& verb) {
  constexpr double kLongest = 3600;
  verb.add_option("--interval", interval, "seconds between two looks (default: 1)")
      ->check(CLI::Range(0.05, kLongest))
      ->type_name("S");
  verb.add_option("--count", count, "end after so many looks (default: at Ctrl-C)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62U))
      ->type_name("N");
  daemon.add_to(verb);
  verb.add_option("--stream", daemon.stream, "only this stream (default: all)")
      ->type_name("NAME")
      ->group("Daemon");
  verb.footer(
      "Pairs scored and learned are per second, latencies in milliseconds over the last minute.\n"
      "Where the output is no terminal, a table is printed for each look. Ctrl-C ends.");
}

std::string describe_top(const JsonObject& before, const JsonObject& now, double seconds) {
  std::vector<std::vector<std::string>> rows = {
      {"stream", "scored/s", "learned/s", "p50 ms", "p99 ms", "queue", "pairs", "model", "self-AUC",
       "HSIC", "drifts", "drift p", "flagged", "overloaded"}};
  std::vector<std::vector<std::string>> views = {{"stream", "view", "weight", "self-AUC"}};
  const auto earlier = before.object("streams");
  const auto streams = now.object("streams");
  for (const auto [name, value] : streams.members()) {
    rows.push_back(row_of(name, earlier.find_object(name), streams.object(name), seconds));
    add_views(name, streams.object(name), views);
  }
  std::string title = "phsicd";
  if (const auto daemon = now.find_object("daemon")) {
    for (const char* name : {"version", "uptime", "memory"}) {
      const auto value = daemon->find(name);
      if (value)
        title += fmt::format("{}{}", name == std::string_view("version") ? " " : ", ",
                             describe_value(name, *value));
    }
  }
  auto text = fmt::format("{}\n\n{}", title, align(rows));
  if (views.size() > 1) text += '\n' + align(views);
  return text;
}

void run_top(const TopArguments& arguments) {
  const Interrupt interrupt;
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  auto client = arguments.daemon.connect();
  const RequestWriter request("stats", arguments.daemon.stream);
  const auto interval = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(arguments.interval));
  auto before = client.ask(request);
  auto asked = Clock::now();
  if (is_terminal) fmt::print("{}", kClear);
  for (std::uint64_t looks = 0; arguments.count == 0 || looks < arguments.count; ++looks) {
    if (!sleep_until(asked + interval)) break;
    auto now = client.ask(request);
    const auto last = std::exchange(asked, Clock::now());
    const auto seconds = std::chrono::duration<double>(asked - last).count();
    const auto text = describe_top(before.root(), now.root(), seconds);
    fmt::print("{}", is_terminal ? on_screen(text) : text + '\n');
    if (std::fflush(stdout) != 0) throw Error("standard output cannot be written");
    before = std::move(now);
  }
}

}  // namespace phsic
