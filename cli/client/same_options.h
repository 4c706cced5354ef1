// Options that a user asks for, held against those of a stream that a daemon has already.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "decide/decide_spec.h"
#include "engine/stream_spec.h"
#include "wire/answer_reader.h"

namespace phsic {

using OptionList = std::vector<std::pair<std::string, std::string>>;  // with their values

// What holds for both sides comes first, whatever the order was.
[[nodiscard]] OptionList general_first(OptionList options);

// What the stream is. Throws an Error if its options make no sense here.
[[nodiscard]] StreamSpec spec_of(const RemoteStream& stream);
// How it is decided about its pairs.
[[nodiscard]] DecidePlan plan_of(const RemoteStream& stream);

// Throws an Error that lists every wanted option which means something else than what the stream
// has, with both values. Of an option that is wanted twice the last counts.
void require_same_options(const OptionList& wanted, const RemoteStream& stream,
                          const std::string& endpoint);

}  // namespace phsic
