// Answers: from what came of a request to JSON.
#pragma once

#include <string>
#include <string_view>

#include "wire/outcome.h"
#include "wire/request.h"

namespace phsic {

// {"ok":false,...}
[[nodiscard]] std::string error_answer(std::string_view id, std::string_view code,
                                       std::string_view message);
// Begins an answer that is no error: {"ok":true,"id":42
void begin_answer(std::string_view id, std::string& out);

// The part of an answer that is known once the pairs are scored, and that takes long to write:
// scores and all. As members, each with a comma before it.
[[nodiscard]] std::string scores_json(const Request& request, const Outcome& outcome);
// The whole answer. `scores` is what scores_json() gave for it, empty if it was not called.
[[nodiscard]] std::string answer_json(const Request& request, const Outcome& outcome,
                                      std::string_view scores);

}  // namespace phsic
