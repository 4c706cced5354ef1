// Replies: from what came of a request to JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/serving/job.h"
#include "engine/stream.h"

namespace phsic {

// {"ok":false,...}
[[nodiscard]] std::string error_reply(std::string_view id, std::string_view code,
                                      std::string_view message);
// The beginning of a good one: {"ok":true,"id":42
void begin_reply(std::string_view id, std::string& out);

// To score, learn, score-and-learn and rank, whose problems are in the order of their rows;
// `until_refresh` is how many more pairs are learned before the next model, for those who taught.
void write_scores(Job& job, std::optional<std::size_t> until_refresh);
void write_explanation(const PairExplanation& explanation, Job& job);

// What a model knows of itself, as members: "model":18,"epoch":0,...
void append_published(const PublishedModel& published, std::string& out);

// The feed's messages about all its rows, with their texts if wanted. `delay` is how long it took,
// in seconds.
void append_feed(Job& job, bool texts, double delay);
[[nodiscard]] bool is_flagged(double p_value, double flag_p_value);

}  // namespace phsic
