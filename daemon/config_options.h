// The options of a daemon and of how it serves a stream: one table each.
//
// engine/stream_spec.h has the table of what a stream is, decide/decide_spec.h the one of what is
// decided about its pairs. From the four come the checks, the reference and what may change while a
// daemon runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config.h"

namespace phsic {

template <class Target>
struct ConfigOption {
  enum class Form {
    kText,
    kTexts,      // a text or a list of texts
    kEndpoints,  // the same, to bind to
    kMapping     // not in one line: subscribe, defaults, streams
  };
  std::string_view name;
  Form form = Form::kText;
  bool reloads = false;       // may change while the daemon runs
  std::string_view value;     // what is expected, in a word
  std::string_view fallback;  // the default, as it is written; empty: none
  std::string_view about;
  // Throws an Error that says what was found and what was expected. Texts are added one by one to
  // the list that `texts` points to; the caller clears it first.
  void (*set)(Target& target, std::string_view text) = nullptr;
  std::vector<std::string> Target::*texts = nullptr;
  bool (*same)(const Target& a, const Target& b) = nullptr;
};

using DaemonOption = ConfigOption<Config>;
using ServingOption = ConfigOption<StreamSettings>;

[[nodiscard]] std::span<const DaemonOption> daemon_options();
[[nodiscard]] std::span<const ServingOption> serving_options();

// The names of all options that a stream may have, the engine's first.
[[nodiscard]] std::vector<std::string_view> stream_option_names();

// True if this option of a stream may change while the daemon runs.
[[nodiscard]] bool stream_option_reloads(std::string_view name);

}  // namespace phsic
