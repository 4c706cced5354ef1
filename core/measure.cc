#include "core/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"

namespace phsic {

template <class T>
Trial run_trial(const Estimator<T>& estimator, const Items<T>& x, const Items<T>& y,
                std::uint64_t seed, std::size_t shuffles) {
  const std::size_t n = row_count(x);
  const std::size_t r = estimator.rank();
  Trial trial;
  if (n == 0) return trial;
  std::vector<T> storage_u(n * r);
  std::vector<T> storage_v(n * r);
  const T* u = estimator.project_x(x, storage_u.data());
  const T* v = estimator.project_y(y, storage_v.data());

  // Rotating a random order by 1 .. n - 1 places moves every element, and no two rotations agree.
  Random random(seed);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  trial.shuffles = std::min(shuffles, n - 1);
  trial.matched.resize(n);
  trial.null.resize(n * trial.shuffles);
  for (std::size_t place = 0; place < n; ++place) {
    const std::size_t i = order[place];
    trial.matched[i] = estimator.combine(u + i * r, v + i * r);
    for (std::size_t k = 0; k < trial.shuffles; ++k) {
      const std::size_t other = order[(place + k + 1) % n];
      trial.null[i * trial.shuffles + k] = estimator.combine(u + i * r, v + other * r);
    }
  }
  const auto finite = [](double score) { return std::isfinite(score); };
  if (!std::all_of(trial.matched.begin(), trial.matched.end(), finite) ||
      !std::all_of(trial.null.begin(), trial.null.end(), finite)) {
    throw Error("self-measurement: found a score that is not finite, expected finite scores");
  }
  return trial;
}

namespace {

// The share of `ascending` below the score, ties half.
double share_below(double score, const std::vector<double>& ascending) {
  const auto [low, high] = std::equal_range(ascending.begin(), ascending.end(), score);
  return (static_cast<double>(low - ascending.begin()) + 0.5 * static_cast<double>(high - low)) /
         static_cast<double>(ascending.size());
}

}  // namespace

double area_under_curve(const std::vector<double>& positives, std::vector<double> negatives) {
  if (positives.empty() || negatives.empty()) return 0.5;
  std::sort(negatives.begin(), negatives.end());
  double sum = 0;
  for (const double score : positives) sum += share_below(score, negatives);
  return sum / static_cast<double>(positives.size());
}

std::vector<double> placements(const Trial& trial) {
  std::vector<double> null = trial.null;
  std::sort(null.begin(), null.end());
  std::vector<double> shares;
  for (const double score : trial.matched) {
    shares.push_back(null.empty() ? 0.5 : share_below(score, null));
  }
  return shares;
}

std::vector<double> ranks_of(const Trial& trial) {
  std::vector<double> ranks;
  for (std::size_t i = 0; i < trial.matched.size(); ++i) {
    double rank = 1;
    for (std::size_t k = 0; k < trial.shuffles; ++k) {
      const double other = trial.null[i * trial.shuffles + k];
      if (other > trial.matched[i]) rank += 1;
      if (other == trial.matched[i]) rank += 0.5;
    }
    ranks.push_back(rank);
  }
  return ranks;
}

std::optional<Accuracy> accuracy_of(const Trial& trial) {
  const std::size_t n = trial.matched.size();
  if (n < 2) return std::nullopt;
  Accuracy accuracy;
  accuracy.pairs = n;
  accuracy.auc = area_under_curve(trial.matched, trial.null);
  for (const double rank : ranks_of(trial)) {
    const auto share = 1 / static_cast<double>(n);
    accuracy.mrr += share / rank;
    if (rank <= 1) accuracy.recall_1 += share;
    if (rank <= 2) accuracy.recall_2 += share;
    if (rank <= 5) accuracy.recall_5 += share;
  }
  return accuracy;
}

void Accuracy::save(Writer& writer) const {
  for (const double value : {auc, mrr, recall_1, recall_2, recall_5}) writer.number(value);
  writer.number(pairs);
}

Accuracy Accuracy::load(Reader& reader) {
  Accuracy accuracy;
  for (double* value :
       {&accuracy.auc, &accuracy.mrr, &accuracy.recall_1, &accuracy.recall_2, &accuracy.recall_5}) {
    *value = reader.finite("accuracy");
  }
  accuracy.pairs = reader.number<std::uint64_t>("accuracy pairs");
  return accuracy;
}

template Trial run_trial(const Estimator<float>&, const Items<float>&, const Items<float>&,
                         std::uint64_t, std::size_t);
template Trial run_trial(const Estimator<double>&, const Items<double>&, const Items<double>&,
                         std::uint64_t, std::size_t);

}  // namespace phsic
