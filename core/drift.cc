#include "core/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace phsic {
namespace {

// The calibration's scores come from products of whole blocks, so their last bits differ from those
// of score(). Scores no further apart than this share of the largest one count as equal.
constexpr double kRounding = 1e-5;
// Up to here the distribution is computed exactly, in a quarter of a millisecond.
constexpr std::uint64_t kMostPaths = 65536;
constexpr std::uint64_t kMostShort = 256;
static_assert(kMostShort * kMostShort == kMostPaths);
constexpr std::uint64_t kMostReference = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 62;

// Under the hypothesis all orders of the m + n draws are equally likely. An order is a path from
// (0, 0) to (m, n), one step for each draw; at (i, j) the two samples are i/m - j/n apart. Walks
// all paths at once and adds up the probability that leaves the band, so that small p-values keep
// their digits. REQUIRES: n <= kMostShort.
double exact_p_value(std::uint64_t distance, std::uint64_t m, std::uint64_t n) {
  std::array<double, kMostShort + 1> inside{};  // in row i: the probability to come through (i, j)
  double left = 0;
  inside[0] = 1;
  for (std::uint64_t i = 0; i <= m; ++i) {
    for (std::uint64_t j = 0; j <= n; ++j) {
      // Draws left to choose from, before the step that leads here.
      const auto rest = static_cast<double>(m - i + n - j + 1);
      double here = inside[j];
      if (i > 0) here *= static_cast<double>(m - i + 1) / rest;
      if (j > 0) here += inside[j - 1] * static_cast<double>(n - j + 1) / rest;
      const std::uint64_t apart = i * n > j * m ? i * n - j * m : j * m - i * n;
      if (apart >= distance) {
        left += here;
        here = 0;
      }
      inside[j] = here;
    }
  }
  return std::min(left, 1.0);
}

// Kolmogorov's distribution: 2 sum_k (-1)^(k-1) exp(-2 k^2 t^2).
double limiting_p_value(double t) {
  if (t < 0.2) return 1;  // but for 1e-12
  double sum = 0;
  double sign = 2;
  for (double k = 1; k < 100; ++k) {
    const double term = std::exp(-2 * k * k * t * t);
    sum += sign * term;
    if (term < 1e-17 * sum) break;
    sign = -sign;
  }
  return std::clamp(sum, 0.0, 1.0);
}

}  // namespace

double smirnov_p_value(std::uint64_t distance, std::uint64_t m, std::uint64_t n) {
  if (distance == 0) return 1;
  if (m * n <= kMostPaths) return exact_p_value(distance, std::max(m, n), std::min(m, n));
  const auto a = static_cast<double>(m);
  const auto b = static_cast<double>(n);
  return limiting_p_value(static_cast<double>(distance) / std::sqrt(a * b * (a + b)));
}

DriftAlarm::DriftAlarm(double alpha) : alpha_(alpha) {
  if (!(alpha > 0 && alpha < 1)) {
    throw Error(fmt::format("drift alpha: found {}, expected more than 0 and less than 1", alpha));
  }
}

void DriftAlarm::restart(const Calibration& calibration) {
  *this = DriftAlarm(alpha_);
  const std::vector<double>& reference = calibration.matched();
  if (reference.empty()) return;
  const double largest = std::max(std::abs(reference.front()), std::abs(reference.back()));
  const double rounding = kRounding * largest;
  // To compare at fewer places than there are scores can only make the distance smaller, so the
  // promise holds whatever counts as equal.
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double low = reference[i] - rounding;
    if (edges_.empty() || low > edges_.back()) {
      edges_.insert(edges_.end(), 2, low);
      below_.insert(below_.end(), 2, i);
    }
    edges_.back() =
        std::nextafter(reference[i] + rounding, std::numeric_limits<double>::infinity());
    below_.back() = i + 1;
  }
  counts_.assign(edges_.size() + 1, 0);
}

std::uint64_t DriftAlarm::window() const {
  std::uint64_t size = kFirstWindow;
  for (std::uint64_t k = 0; k < looks_ && size < kLargestWindow; ++k) size *= 2;
  return size;
}

// The largest difference of the two distributions, times the sizes of both samples.
std::uint64_t DriftAlarm::distance() const {
  std::uint64_t largest = 0;
  std::uint64_t seen = 0;
  for (std::size_t j = 0; j < edges_.size(); ++j) {
    seen += counts_[j];
    const std::uint64_t ours = below_[j] * in_window_;
    const std::uint64_t theirs = seen * reference_size();
    largest = std::max(largest, ours > theirs ? ours - theirs : theirs - ours);
  }
  return largest;
}

const DriftLook& DriftAlarm::look() {
  ++looks_;
  before_window_ += in_window_;
  remember(smirnov_p_value(distance(), reference_size(), in_window_));
  std::fill(counts_.begin(), counts_.end(), 0);
  in_window_ = 0;
  return *last_;
}

void DriftAlarm::remember(double p_value) {
  const auto k = static_cast<double>(looks_);
  const double limit = alpha_ / (k * (k + 1));
  last_ = {before_window_, p_value, limit, p_value <= limit};
}

std::optional<DriftLook> DriftAlarm::add(double score) {
  if (edges_.empty() || std::isnan(score) || is_raised()) return std::nullopt;
  const auto above = std::upper_bound(edges_.begin(), edges_.end(), score);
  ++counts_[static_cast<std::size_t>(above - edges_.begin())];
  if (++in_window_ < window()) return std::nullopt;
  return look();
}

std::optional<DriftLook> DriftAlarm::add(std::span<const double> scores) {
  std::optional<DriftLook> last;
  for (const double score : scores) {
    if (const std::optional<DriftLook> found = add(score)) last = found;
  }
  return last;
}

void DriftAlarm::save(Writer& writer) const {
  writer.number(alpha_);
  writer.array(edges_);
  writer.array(below_);
  writer.array(counts_);
  writer.number(before_window_);
  writer.number(looks_);
  if (last_) writer.number(last_->p_value);
}

DriftAlarm DriftAlarm::load(Reader& reader) {
  DriftAlarm alarm(reader.finite("drift alpha"));
  alarm.edges_ = reader.array<double>("drift edges");
  const std::size_t edges = alarm.edges_.size();
  alarm.below_ = reader.array<std::uint64_t>("drift reference", edges);
  alarm.counts_ = reader.array<std::uint64_t>("drift counts", edges == 0 ? 0 : edges + 1);
  alarm.before_window_ = reader.number_in<std::uint64_t>("drift pairs", 0, kMostPairs);
  alarm.looks_ = reader.number_in<std::uint64_t>("drift looks", 0, kMostPairs);
  if (alarm.looks_ > 0) alarm.remember(reader.finite("drift p-value"));
  alarm.require_consistent(reader);
  for (const std::uint64_t count : alarm.counts_) alarm.in_window_ += count;
  return alarm;
}

// Checks the fields that were read; in_window_ is derived afterwards.
void DriftAlarm::require_consistent(const Reader& reader) const {
  const auto descend = [](double a, double b) { return !(a < b); };  // NaN too
  if (std::adjacent_find(edges_.begin(), edges_.end(), descend) != edges_.end() ||
      edges_.size() % 2 != 0) {
    reader.refuse("drift edges", "found them odd or out of order, expected ascending twos");
  }
  if (!std::is_sorted(below_.begin(), below_.end()) || reference_size() > kMostReference ||
      (reference_size() == 0 && !edges_.empty())) {
    reader.refuse("drift reference", fmt::format("found {} scores or counts out of order, expected "
                                                 "ascending counts up to 1 to {}",
                                                 reference_size(), kMostReference));
  }
  std::uint64_t room = window();
  for (const std::uint64_t count : counts_) {
    if (count >= room) {
      reader.refuse("drift counts",
                    fmt::format("found a full window, expected fewer than {} pairs", window()));
    }
    room -= count;
  }
  if (last_ && !(last_->p_value >= 0 && last_->p_value <= 1)) {
    reader.refuse("drift p-value", fmt::format("found {}, expected 0 to 1", last_->p_value));
  }
}

}  // namespace phsic
