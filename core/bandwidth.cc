#include "core/bandwidth.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace phsic {
namespace {

constexpr std::size_t kMostDistances = 20000;

double squared_distance(const DenseRows<double>& rows, std::size_t a, std::size_t b) {
  double sum = 0;
  for (std::size_t j = 0; j < rows.dim; ++j) {
    const double difference = rows.row(a)[j] - rows.row(b)[j];
    sum += difference * difference;
  }
  return sum;
}

double squared_distance(const SparseRows<double>& rows, std::size_t a, std::size_t b) {
  double sum = 0;
  std::size_t i = rows.start[a];
  std::size_t k = rows.start[b];
  while (i < rows.start[a + 1] || k < rows.start[b + 1]) {
    const bool a_left = i < rows.start[a + 1];
    const bool b_left = k < rows.start[b + 1];
    const bool take_a = a_left && (!b_left || rows.index[i] <= rows.index[k]);
    const bool take_b = b_left && (!a_left || rows.index[k] <= rows.index[i]);
    const double difference = (take_a ? rows.value[i++] : 0) - (take_b ? rows.value[k++] : 0);
    sum += difference * difference;
  }
  return sum;
}

double squared_distance(const TextRows&, std::size_t, std::size_t) { return 0; }

// The smallest value at which half of the weight is reached; 0 for none.
double weighted_median(std::vector<std::pair<double, double>>& values) {
  std::sort(values.begin(), values.end());
  double half = 0;
  for (const auto& [value, weight] : values) half += weight / 2;
  double passed = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    passed += values[i].second;
    // Exactly half below and half above: the middle of the two, as for an even number of values.
    if (passed == half && i + 1 < values.size()) return (values[i].first + values[i + 1].first) / 2;
    if (passed >= half) return values[i].first;
  }
  return 0;
}

// Linear interpolation between order statistics, as numpy's percentile.
double percentile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

DenseRows<double> densified(const Items<double>& items, std::vector<double>& storage) {
  if (const auto* dense = std::get_if<DenseRows<double>>(&items)) return *dense;
  const auto* sparse = std::get_if<SparseRows<double>>(&items);
  if (sparse == nullptr) return {};
  storage.assign(sparse->rows * sparse->dim, 0);
  for (std::size_t i = 0; i < sparse->rows; ++i) {
    for (std::size_t e = sparse->start[i]; e < sparse->start[i + 1]; ++e) {
      storage[i * sparse->dim + sparse->index[e]] = sparse->value[e];
    }
  }
  return {storage.data(), sparse->rows, sparse->dim};
}

}  // namespace

double median_distance(const Items<double>& items, const std::vector<double>& weights,
                       std::uint64_t seed) {
  const std::size_t n = row_count(items);
  std::vector<std::pair<double, double>> distances;
  const auto add = [&](std::size_t a, std::size_t b, double weight) {
    const double squared =
        std::visit([&](const auto& rows) { return squared_distance(rows, a, b); }, items);
    distances.emplace_back(std::sqrt(squared), weight);
  };
  if (n * (n - 1) / 2 <= kMostDistances) {
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) add(a, b, weights[a] * weights[b]);
    }
  } else {
    std::vector<double> cumulative(n);
    std::partial_sum(weights.begin(), weights.end(), cumulative.begin());
    Random random(seed);
    const auto draw = [&] {
      const double at = random.uniform() * cumulative.back();
      const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), at);
      return std::min(static_cast<std::size_t>(found - cumulative.begin()), n - 1);
    };
    for (std::size_t i = 0; i < kMostDistances; ++i) {
      const std::size_t a = draw();
      const std::size_t b = draw();
      if (a != b) add(a, b, 1);
    }
  }
  const double median = weighted_median(distances);
  if (median > 0) return median;
  std::erase_if(distances, [](const auto& entry) { return entry.first == 0; });
  const double among_others = weighted_median(distances);
  return among_others > 0 ? among_others : 1;
}

std::vector<double> inverse_bandwidths(const Items<double>& items, double factor) {
  std::vector<double> storage;
  const DenseRows<double> rows = densified(items, storage);
  std::vector<double> scales(rows.dim, 0);
  if (rows.rows < 2) return scales;
  const auto n = static_cast<double>(rows.rows);

  std::vector<double> values(rows.data, rows.data + rows.rows * rows.dim);
  std::sort(values.begin(), values.end());
  const double spread = (percentile(values, 0.75) - percentile(values, 0.25)) / 1.349;

  for (std::size_t j = 0; j < rows.dim; ++j) {
    double mean = 0;
    for (std::size_t i = 0; i < rows.rows; ++i) mean += rows.row(i)[j] / n;
    double squares = 0;
    for (std::size_t i = 0; i < rows.rows; ++i) {
      squares += (rows.row(i)[j] - mean) * (rows.row(i)[j] - mean);
    }
    const double deviation = std::sqrt(squares / (n - 1));
    const double width = spread > 0 ? std::min(deviation, spread) : deviation;
    const double sigma = factor * std::pow(n, -0.2) * width;
    // Scaled values must have squares that are floats.
    constexpr double kMostScale = 1e9;
    if (std::isnormal(sigma)) scales[j] = std::min(1 / sigma, kMostScale);
  }
  return scales;
}

}  // namespace phsic
