#include "core/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/random.h"

namespace phsic {

std::vector<std::size_t> random_order(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

template <class T>
Trial run_trial(const Estimator<T>& estimator, const Items<T>& x, const Items<T>& y,
                const TrialPlan& plan) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::size_t n = plan.order.size();
  const std::size_t r = estimator.rank();
  Trial trial;
  if (n == 0) return trial;
  std::vector<T> storage_u(row_count(x) * r);
  std::vector<T> storage_v(row_count(y) * r);
  const T* u = estimator.project_x(x, storage_u.data());
  const T* v = estimator.project_y(y, storage_v.data());
  const auto score = [&](std::size_t i, std::size_t j) {
    const auto row_x = plan.rows[i];
    const auto row_y = plan.rows[j];
    if (row_x == TrialPlan::kAbsent || row_y == TrialPlan::kAbsent) return kNan;
    const double found = estimator.combine(u + row_x * r, v + row_y * r);
    return std::isfinite(found) ? found : kNan;
  };

  // Rotating the order by 1 .. n - 1 places moves every element, and no two rotations agree. Both
  // ways these are 1, n - 1, 2, n - 2 ...
  const auto rotation = [&](std::size_t k) {
    if (!plan.both_ways) return k + 1;
    return k % 2 == 0 ? k / 2 + 1 : n - (k + 1) / 2;
  };
  trial.shuffles = std::min(plan.shuffles, n - 1);
  trial.matched.resize(n);
  trial.null.resize(n * trial.shuffles);
  for (std::size_t place = 0; place < n; ++place) {
    const std::size_t i = plan.order[place];
    trial.matched[i] = score(i, i);
    for (std::size_t k = 0; k < trial.shuffles; ++k) {
      trial.null[i * trial.shuffles + k] = score(i, plan.order[(place + rotation(k)) % n]);
    }
  }
  return trial;
}

template <class T>
Trial run_trial(const Estimator<T>& estimator, const Items<T>& x, const Items<T>& y,
                std::uint64_t seed, std::size_t shuffles) {
  TrialPlan plan{random_order(row_count(x), seed), shuffles, false, {}};
  plan.rows.resize(row_count(x));
  std::iota(plan.rows.begin(), plan.rows.end(), std::size_t{0});
  auto trial = run_trial(estimator, x, y, plan);
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

std::vector<double> merits_of(const Trial& trial) {
  auto merits = placements(trial);
  const auto ranks = ranks_of(trial);
  for (std::size_t i = 0; i < merits.size(); ++i) {
    // When a share p of all others scores higher, E 1/(1+B) = (1 - (1-p)^(m+1)) / ((m+1) p) for B
    // binomial of m and p.
    const double higher =
        trial.shuffles == 0 ? 0 : (ranks[i] - 1) / static_cast<double>(trial.shuffles);
    constexpr double kPlaces = kShuffles + 1;
    const double reciprocal_rank =
        higher > 0 ? (1 - std::pow(1 - higher, kPlaces)) / (kPlaces * higher) : 1;
    merits[i] = (merits[i] + reciprocal_rank) / 2;
  }
  return merits;
}

bool is_clearly_better(const std::vector<double>& merits, const std::vector<double>& others,
                       double standard_errors) {
  const auto n = static_cast<double>(merits.size());
  double merit = 0;
  double other = 0;
  for (std::size_t i = 0; i < merits.size(); ++i) {
    merit += merits[i] / n;
    other += others[i] / n;
  }
  const double difference = merit - other;
  double squares = 0;
  for (std::size_t i = 0; i < merits.size(); ++i) {
    const double deviation = merits[i] - others[i] - difference;
    squares += deviation * deviation;
  }
  return difference > standard_errors * std::sqrt(squares / (n - 1) / n);
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
template Trial run_trial(const Estimator<float>&, const Items<float>&, const Items<float>&,
                         const TrialPlan&);
template Trial run_trial(const Estimator<double>&, const Items<double>&, const Items<double>&,
                         const TrialPlan&);

}  // namespace phsic
