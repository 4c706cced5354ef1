// What an explanation is made of, as JSON, for both ends of the wire: docs/protocol.md, `explain`.
#pragma once

#include <optional>
#include <string>

#include "engine/pair_explanation.h"
#include "wire/message.h"

namespace phsic {

// Appends views, expert, words and learned pairs, each with a comma before it, as far as they are
// there. What is not UTF-8 becomes U+FFFD.
void append_grounds(const PairExplanation& explanation, std::string& out);

// The same of an answer; none if it has none. Throw an Error when it is not as docs/protocol.md
// says.
[[nodiscard]] std::optional<PairWords> read_words(const JsonObject& answer);
[[nodiscard]] std::optional<ExpertOpinion> read_expert(const JsonObject& answer);

}  // namespace phsic
