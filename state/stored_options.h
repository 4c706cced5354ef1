// The options of a stream as they are kept: JSON, each name with its text.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/decision_replay.h"
#include "engine/stream_spec.h"

namespace phsic {

using StoredOptions = std::vector<std::pair<std::string, std::string>>;

// Makes what remembers the decisions about a stream with these options.
using DecisionsOf = std::function<std::unique_ptr<DecisionReplay>(const StoredOptions&)>;

// Throws an Error unless it is an object of texts.
[[nodiscard]] StoredOptions parse_options(std::string_view json);
[[nodiscard]] std::string options_json(const StoredOptions& options);

// Those that say what a stream is; the others say how a daemon serves it.
[[nodiscard]] StoredOptions engine_options(const StoredOptions& options);
// What `later` says counts instead: an encoder for both sides also instead of one for one side, a
// window instead of a half-life.
void override_options(StoredOptions& options, const StoredOptions& later);
// The stream that they describe. Throws an Error that names the option.
[[nodiscard]] StreamSpec spec_of(const StoredOptions& options);
// How many ids of pairs the stream remembers.
[[nodiscard]] std::size_t id_window_of(const StoredOptions& options);

}  // namespace phsic
