#include "core/window_clock.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/recent.h"

namespace phsic {

WindowClock::WindowClock(const Forgetting& forgetting, Reading reading)
    : forgetting_(forgetting), reading_(std::move(reading)) {}

void WindowClock::arrive(double time) {
  auto& [arrived, latest_time, has_time, times] = reading_;
  latest_time = has_time ? std::max(latest_time, time) : time;
  has_time = true;
  times.push_back(latest_time);
  ++arrived;
}

void WindowClock::drop_oldest(std::size_t count) {
  auto& times = reading_.times;
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count));
}

void WindowClock::catch_up(const WindowClock& other) {
  if (!other.reading_.has_time) return;
  reading_.latest_time = reading_.has_time
                             ? std::max(reading_.latest_time, other.reading_.latest_time)
                             : other.reading_.latest_time;
  reading_.has_time = true;
}

std::size_t WindowClock::recent_since(double time) const {
  const auto& times = reading_.times;
  return static_cast<std::size_t>(times.end() - std::lower_bound(times.begin(), times.end(), time));
}

std::size_t WindowClock::recent_past() const {
  std::size_t count = 0;
  while (count < recent() && is_past(bucket_at(arrival(count)))) ++count;
  return count;
}

double WindowClock::arrival(std::size_t recent_index) const {
  if (forgetting_.by_seconds()) return reading_.times[recent_index];
  return static_cast<double>(number(recent_index));
}

double WindowClock::fading(std::size_t recent_index, double now) const {
  return (arrival(recent_index) - now) / forgetting_.half_life();
}

double WindowClock::log_fading(double time) const {
  return time / forgetting_.half_life() * std::numbers::ln2;
}

std::size_t WindowClock::bucket_count() const {
  if (!forgetting_.is_window()) return 1;
  if (forgetting_.by_seconds()) return forgetting_.buckets;
  const double blocks = std::max(1.0, std::floor(forgetting_.span / kBlockPairs));
  return static_cast<std::size_t>(std::min<double>(forgetting_.buckets, blocks));
}

std::int64_t WindowClock::bucket_at(double time) const {
  if (!forgetting_.is_window()) return 0;
  double span = forgetting_.span / static_cast<double>(bucket_count());
  if (!forgetting_.by_seconds()) span = std::ceil(span / kBlockPairs) * kBlockPairs;
  return static_cast<std::int64_t>(std::clamp(std::floor(time / span), -9e15, 9e15));
}

std::int64_t WindowClock::newest_bucket() const {
  return bucket_at(forgetting_.by_seconds() ? latest_time() : newest_number());
}

bool WindowClock::is_past(std::int64_t bucket) const {
  return forgetting_.is_window() && is_before_window(bucket, newest_bucket());
}

}  // namespace phsic
