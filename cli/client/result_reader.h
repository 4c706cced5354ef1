// What a daemon answers about pairs, in the columns of a session.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/session/pair_results.h"
#include "wire/message.h"

namespace phsic {

// The answer to `count` pairs, which are those of `results` from `first` on. A daemon that does not
// decide leaves no decisions at all. Throws an Error when the answer is not as docs/protocol.md
// says.
void read_results(const JsonObject& answer, std::size_t first, std::size_t count,
                  PairResults& results);

// The views of the stream that could not be asked for some of them, in the same way.
void read_left_out(const JsonObject& answer, std::size_t first, std::size_t count,
                   std::vector<LeftOut>& left_out);

}  // namespace phsic
