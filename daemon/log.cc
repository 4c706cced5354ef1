#include "daemon/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <type_traits>

#include "wire/json_text.h"

namespace phsic {
namespace {

constexpr auto kLogPeriod = std::chrono::seconds(10);
constexpr int kMostInPeriod = 20;

std::atomic<bool> writes_json{false};

// How often each kind of line was written lately.
class RateLimit {
 public:
  // Whether to write one more; `suppressed` tells how many were not since the last.
  bool allows(std::string_view what, std::uint64_t& suppressed) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    auto& kind = kinds_.try_emplace(std::string(what), Kind{now, 0, 0}).first->second;
    if (now - kind.began >= kLogPeriod) {
      kind.began = now;
      kind.written = 0;
    }
    if (kind.written >= kMostInPeriod) {
      ++kind.suppressed;
      return false;
    }
    ++kind.written;
    suppressed = std::exchange(kind.suppressed, 0);
    return true;
  }

 private:
  struct Kind {
    std::chrono::steady_clock::time_point began;
    int written = 0;
    std::uint64_t suppressed = 0;
  };

  std::mutex mutex_;  // guards kinds_
  std::map<std::string, Kind, std::less<>> kinds_;
};

spdlog::logger& logger() {
  static const auto kLogger = spdlog::stderr_logger_mt("phsicd");
  return *kLogger;
}

spdlog::level::level_enum level_of(LogLevel level) {
  constexpr std::array kLevels = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                  spdlog::level::warn, spdlog::level::err};
  return kLevels[static_cast<std::size_t>(level)];
}

std::string as_text(std::string_view what, std::initializer_list<LogField> fields,
                    std::uint64_t suppressed) {
  std::string line(what);
  for (const auto& field : fields) {
    const bool plain =
        !field.is_text ||
        (!field.value.empty() && field.value.find_first_of(" \"=\\\n\r\t") == std::string::npos);
    fmt::format_to(std::back_inserter(line), " {}={}", field.name,
                   plain ? field.value : quoted_json(field.value));
  }
  if (suppressed > 0) fmt::format_to(std::back_inserter(line), " suppressed={}", suppressed);
  return line;
}

std::string as_json(std::string_view what, std::initializer_list<LogField> fields,
                    std::uint64_t suppressed) {
  std::string line = fmt::format("\"event\":{}", quoted_json(what));
  for (const auto& field : fields) {
    fmt::format_to(std::back_inserter(line), ",\"{}\":{}", field.name,
                   field.is_text ? quoted_json(field.value) : field.value);
  }
  if (suppressed > 0) fmt::format_to(std::back_inserter(line), ",\"suppressed\":{}", suppressed);
  return line;
}

}  // namespace

LogField::LogField(std::string_view field, double number)
    : name(field), value(fmt::format("{:.6g}", number)) {}

LogField LogField::json(std::string_view field, std::string value) {
  LogField made(field, std::string_view());
  made.value = std::move(value);
  made.is_text = false;
  return made;
}

void set_up_log(std::string_view level, std::string_view format) {
  writes_json = format == "json";
  logger().set_pattern(writes_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})"
                                   : "%Y-%m-%d %H:%M:%S.%e %l %v");
  logger().set_level(spdlog::level::from_str(std::string(level)));
  logger().flush_on(spdlog::level::trace);
}

void log(LogLevel level, std::string_view what, std::initializer_list<LogField> fields) {
  static RateLimit limit;
  if (!logger().should_log(level_of(level))) return;
  std::uint64_t suppressed = 0;
  if (!limit.allows(what, suppressed)) return;
  const auto line =
      writes_json ? as_json(what, fields, suppressed) : as_text(what, fields, suppressed);
  logger().log(level_of(level), spdlog::string_view_t(line));
}

}  // namespace phsic
