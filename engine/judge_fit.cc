#include "engine/judge_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/measure.h"
#include "core/random.h"

namespace phsic {
namespace {

constexpr std::size_t kCopies = 3;      // damaged ones of each pair
constexpr int kRounds = 5;              // of weighing the pairs that pass for good
constexpr double kPenalty = 0.02;       // of squared coefficients, beside the mean loss
constexpr double kFewestOfKind = 16;    // damaged pairs that an expert is fitted to
constexpr double kTooFew = 10;          // pairs of a kind that pass for good ones
constexpr double kLowestWeight = 0.02;  // of a pair that looks damaged

using Views = std::vector<std::string_view>;

// A damaged copy: of which pair, and in which way.
struct Copy {
  std::size_t source = 0;
  std::size_t kind = 0;
  DamagedPair texts;
};

// Damaged copies of all pairs, the kinds in turn.
std::vector<Copy> damage_all(
    const std::vector<std::pair<std::string_view, std::string_view>>& pairs, std::uint64_t seed) {
  const auto kinds = damage_kinds();
  std::vector<Copy> copies;
  Random random(seed);
  std::size_t next = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t c = 0; c < kCopies; ++c) {
      auto other = random.below(pairs.size() - 1);
      if (other >= i) ++other;
      Copy copy;
      copy.source = i;
      // Some pairs cannot be damaged in some ways: the next kind then.
      for (std::size_t tries = 0; tries < kinds.size(); ++tries) {
        copy.kind = next++ % kinds.size();
        const bool is_damaged =
            kinds[copy.kind].damage({pairs[i].first, pairs[i].second},
                                    {pairs[other].first, pairs[other].second}, random, copy.texts);
        if (!is_damaged) continue;
        copies.push_back(std::move(copy));
        break;
      }
    }
  }
  return copies;
}

// The components of pairs of texts.
RowMatrix read_all(const ComponentReader& reader, const Views& x, const Views& y) {
  RowMatrix rows(static_cast<Eigen::Index>(x.size()), static_cast<Eigen::Index>(reader.size()));
  if (x.empty()) return rows;
  std::vector<Encoded> encoded(2 * reader.views().size());
  std::vector<WholePairs> seen;
  for (std::size_t v = 0; v < reader.views().size(); ++v) {
    const auto& view = reader.views()[v];
    view.x.encode(x, encoded[2 * v]);
    view.y.encode(y, encoded[2 * v + 1]);
    seen.push_back({{encoded[2 * v].view(), encoded[2 * v + 1].view()}});
  }
  JudgeScratch scratch;
  reader.read({x, y, seen}, rows.data(), scratch);
  return rows;
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// The rows that experts are fitted to, and who is fitted to which.
class Fitting {
 public:
  Fitting(RowMatrix good, RowMatrix bad, const std::vector<Copy>& copies, std::size_t kinds)
      : good_(std::move(good)), bad_(std::move(bad)) {
    rows_of_.resize(kinds);
    for (std::size_t c = 0; c < copies.size(); ++c) {
      rows_of_[copies[c].kind].push_back(c);
      sources_.push_back(copies[c].source);
    }
    weights_.assign(static_cast<std::size_t>(good_.rows()), 1);
    std::vector<double> ones(static_cast<std::size_t>(bad_.rows()), 1.0 / kCopies);
    RowMatrix all(good_.rows() + bad_.rows(), good_.cols());
    all << good_, bad_;
    auto weights = weights_;
    weights.insert(weights.end(), ones.begin(), ones.end());
    standardiser_ = Standardiser(all, weights);
    for (auto* rows : {&good_, &bad_}) {
      for (Eigen::Index i = 0; i < rows->rows(); ++i) {
        standardiser_.apply(rows->row(i).data(), rows->row(i).data());
      }
    }
    for (std::size_t k = 0; k < kinds; ++k) {
      if (static_cast<double>(rows_of_[k].size()) >= kFewestOfKind) experts_.push_back(k);
    }
    cross_fitted_.assign(weights_.size() * experts_.size(), 0);
    for (auto& fold : begins_) fold.resize(kinds);
  }

  void run() {
    for (int round = 0; round < kRounds; ++round) {
      cross_fit();
      shares_ = estimate_shares(cross_fitted_, experts_.size(), kTooFew);
      weigh();
    }
  }

  [[nodiscard]] Judge::Fitted result() {
    Judge::Fitted fitted;
    fitted.standardiser = standardiser_;
    for (const auto k : experts_) {
      fitted.experts.push_back({&damage_kinds()[k], fit(k, kNoFold)});
    }
    fitted.shares = shares_;
    fitted.pairs = weights_.size();
    return fitted;
  }

 private:
  static constexpr std::size_t kFolds = 2;
  static constexpr std::size_t kNoFold = kFolds;

  static std::size_t fold_of(std::size_t pair) { return pair % kFolds; }

  // The expert of a kind, fitted to all pairs but those of a fold.
  Logistic fit(std::size_t kind, std::size_t fold) {
    std::vector<Eigen::Index> good;
    std::vector<Eigen::Index> bad;
    double weight = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (fold_of(i) == fold) continue;
      good.push_back(static_cast<Eigen::Index>(i));
      weight += weights_[i];
    }
    for (const auto c : rows_of_[kind]) {
      if (fold_of(sources_[c]) != fold) bad.push_back(static_cast<Eigen::Index>(c));
    }
    const auto count = static_cast<Eigen::Index>(good.size() + bad.size());
    RowMatrix rows(count, good_.cols());
    std::vector<unsigned char> labels;
    std::vector<double> weights;
    Eigen::Index at = 0;
    for (const auto i : good) {
      rows.row(at++) = good_.row(i);
      labels.push_back(1);
      weights.push_back(weights_[static_cast<std::size_t>(i)] / weight);
    }
    for (const auto c : bad) {
      rows.row(at++) = bad_.row(c);
      labels.push_back(0);
      weights.push_back(1 / static_cast<double>(bad.size()));
    }
    return fit_logistic(rows, labels, weights, kPenalty,
                        fold < kFolds ? begins_[fold][kind] : begins_[0][kind]);
  }

  // What experts that were fitted to the other pairs say of each.
  void cross_fit() {
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      for (std::size_t e = 0; e < experts_.size(); ++e) {
        auto& expert = begins_[fold][experts_[e]];
        expert = fit(experts_[e], fold);
        for (std::size_t i = fold; i < weights_.size(); i += kFolds) {
          cross_fitted_[i * experts_.size() + e] =
              expert.log_odds(good_.row(static_cast<Eigen::Index>(i)).data());
        }
      }
    }
  }

  void weigh() {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double* const row = cross_fitted_.data() + i * experts_.size();
      const double lowest = *std::min_element(row, row + experts_.size());
      weights_[i] = std::clamp(1.5 * logistic(lowest + 1), kLowestWeight, 1.0);
    }
  }

  RowMatrix good_;
  RowMatrix bad_;
  std::vector<std::vector<std::size_t>> rows_of_;  // of each kind, in bad_
  std::vector<std::size_t> sources_;               // of each row of bad_
  std::vector<std::size_t> experts_;               // kinds that have enough rows
  Standardiser standardiser_;
  std::vector<double> weights_;       // of the rows of good_
  std::vector<double> cross_fitted_;  // log odds of each by each expert
  std::array<std::vector<Logistic>, kFolds> begins_;
  KindShares shares_;
};

}  // namespace

std::shared_ptr<const Judge> fit_judge(const JudgeMaterial& material) {
  if (material.views.empty() || material.pairs.size() < kFewestJudged) return nullptr;
  auto pairs = material.pairs;
  const bool is_sampled = pairs.size() > kMostJudged;
  if (is_sampled) {
    auto order = random_order(pairs.size(), material.seed);
    order.resize(kMostJudged);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < kMostJudged; ++i) pairs[i] = pairs[order[i]];
    pairs.resize(kMostJudged);
  }
  Views x;
  Views y;
  for (const auto& [of_x, of_y] : pairs) {
    x.push_back(of_x);
    y.push_back(of_y);
  }
  std::vector<PairLengths> lengths;
  SurfaceScratch sketches;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sketches.x.read(x[i], judge_tokenizer());
    sketches.y.read(y[i], judge_tokenizer());
    lengths.push_back(lengths_of(sketches.x, sketches.y));
  }
  const auto norm = SurfaceNorm::of(lengths);
  ComponentReader reader(material.views, material.fluency, norm);
  const auto copies = damage_all(pairs, material.seed);
  Views damaged_x;
  Views damaged_y;
  for (const auto& copy : copies) {
    damaged_x.push_back(copy.texts.x);
    damaged_y.push_back(copy.texts.y);
  }
  Fitting fitting(read_all(reader, x, y), read_all(reader, damaged_x, damaged_y), copies,
                  damage_kinds().size());
  fitting.run();
  auto fitted = fitting.result();
  if (fitted.experts.empty()) return nullptr;
  fitted.is_sampled = is_sampled;
  return std::make_shared<const Judge>(std::move(reader), std::move(fitted));
}

}  // namespace phsic
