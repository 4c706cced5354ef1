// What measures over the wire have in common: requests, clients that keep several under way, and
// what their answers took.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/live_daemon.h"
#include "bench/texts.h"
#include "core/random.h"

namespace phsic::bench {

using Clock = std::chrono::steady_clock;
using Frames = std::vector<std::string>;

inline constexpr std::size_t kLearned = 8192;
inline constexpr std::size_t kBatchPairs = 256;

[[nodiscard]] double since(Clock::time_point began);
[[nodiscard]] double quantile(std::vector<double> values, double share);

// `count` pairs of the sample from `first` on, over and over; `members` end with a comma.
[[nodiscard]] std::string request(std::string_view members, const TextSample& sample,
                                  std::size_t first, std::size_t count);
// Normal ones, as three frames.
[[nodiscard]] Frames vectors(std::string_view op, std::size_t rows, std::size_t dim,
                             Random& random);

void send(WireClient& client, const Frames& frames);
// Throws unless the answer is ok.
void require_ok(const std::string& answer);
// kLearned pairs, and a model of them.
void teach(WireClient& client, const TextSample& sample);

// Requests in flight, so that neither side waits for the other. Returns pairs a second.
[[nodiscard]] double pipelined_rate(WireClient& client, const std::vector<std::string>& requests,
                                    std::size_t pairs_each, std::size_t in_flight);
// Latencies of single requests sent at a steady rate, whether or not answers are late.
[[nodiscard]] std::vector<double> paced_latencies(WireClient& client, const Frames& frames,
                                                  double rate, double seconds);

}  // namespace phsic::bench
