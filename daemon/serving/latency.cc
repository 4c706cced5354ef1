#include "daemon/serving/latency.h"

#include <algorithm>
#include <cmath>

namespace phsic {
namespace {

constexpr auto kLatencyPeriod = std::chrono::seconds(30);
constexpr double kShortest = 1e-7;  // seconds; shorter ones count as this
constexpr double kGrowth = 1.125;

double upper_end(std::size_t bucket) {
  return kShortest * std::pow(kGrowth, static_cast<double>(bucket + 1));
}

}  // namespace

void Latency::turn(Clock::time_point now) {
  if (now - began_ < kLatencyPeriod) return;
  periods_[1] = now - began_ < 2 * kLatencyPeriod ? periods_[0] : Period();
  periods_[0] = Period();
  began_ = now;
}

void Latency::add(Clock::duration took, Clock::time_point now) {
  turn(now);
  const double seconds = std::chrono::duration<double>(took).count();
  const double place = std::log(std::max(seconds, kShortest) / kShortest) / std::log(kGrowth);
  const auto bucket = std::min(kBuckets - 1, static_cast<std::size_t>(place));
  ++periods_[0].counts[bucket];
  ++periods_[0].total;
  periods_[0].longest = std::max(periods_[0].longest, seconds);
}

double Latency::quantile(double share, Clock::time_point now) {
  turn(now);
  const auto total = periods_[0].total + periods_[1].total;
  if (total == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(total)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += periods_[0].counts[bucket] + periods_[1].counts[bucket];
    if (seen >= std::max<std::uint64_t>(1, wanted))
      return std::min(upper_end(bucket), longest(now));
  }
  return longest(now);
}

double Latency::longest(Clock::time_point now) {
  turn(now);
  return std::max(periods_[0].longest, periods_[1].longest);
}

}  // namespace phsic
