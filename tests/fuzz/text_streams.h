// Small streams of texts, which need no encoder: what state is restored into.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/stream.h"
#include "state/snapshot.h"
#include "state/stored_options.h"

namespace phsic::fuzz {

// What they are: with pivots, with a window, counting, with views, with a judge.
[[nodiscard]] const std::vector<StoredOptions>& text_stream_options();
[[nodiscard]] std::unique_ptr<Stream> open_text_stream(std::size_t kind);
// Learns some pairs, builds a model, scores, explains.
void use(Stream& stream);
[[nodiscard]] std::string state_of(const Stream& stream);

// Valid inputs: (target, bytes).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> state_seeds();

}  // namespace phsic::fuzz
