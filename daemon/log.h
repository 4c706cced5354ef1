// The daemon's log: one line for each thing that happened, to standard error.
//
//   2026-11-16 08:00:00.123 info refresh stream=chat model=3 self_auc=0.93
//
// or the same as a JSON object. Of each kind of line a few are written in ten seconds, and the rest
// are counted. Any thread may log.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace phsic {

struct LogField {
  LogField(std::string_view field, std::string_view text)
      : name(field), value(text), is_text(true) {}
  LogField(std::string_view field, const char* text) : LogField(field, std::string_view(text)) {}
  LogField(std::string_view field, const std::string& text)
      : LogField(field, std::string_view(text)) {}
  LogField(std::string_view field, double number);
  template <class Integer>
  requires std::is_integral_v<Integer> LogField(std::string_view field, Integer number)
      : name(field), value(std::to_string(number)) {}

  // A value that is JSON already.
  [[nodiscard]] static LogField json(std::string_view field, std::string value);

  std::string_view name;
  std::string value;
  bool is_text = false;
};

enum class LogLevel : unsigned char { kTrace, kDebug, kInfo, kWarning, kError };

// REQUIRES: a level and a format that config.h allows. May be called again to change them.
void set_up_log(std::string_view level, std::string_view format);

void log(LogLevel level, std::string_view what, std::initializer_list<LogField> fields = {});

}  // namespace phsic
