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
constexpr int kRounds = 10;             // of weighing the pairs that pass for good
constexpr int kWaryRounds = 6;          // the first of them
constexpr double kPenalty = 0.02;       // of squared coefficients, beside the mean loss
constexpr double kFewestOfKind = 16;    // damaged pairs that an expert is fitted to
constexpr double kTooFew = 10;          // pairs of a kind that pass for good ones
constexpr double kLowestWeight = 0.02;  // of a pair that looks damaged
constexpr double kTrust = 0.2;          // wary rounds take a few more for damaged than there are
// Bounds of the log odds that any pair is good, which count before the pair is looked at.
constexpr double kMostOdds = 2;
constexpr double kLeastOdds = -0.5;
constexpr double kLeastShareOfOne = 0.5;  // pairs that count as damaged where there is one kind
constexpr double kMostShareOfOne = 0.95;
constexpr double kSureName = 8;  // log odds beyond which a kind is sure

using Views = std::vector<std::string_view>;

// A damaged copy: of which pair, in which way, and by the help of which other.
struct Copy {
  std::size_t source = 0;
  std::size_t other = 0;
  std::size_t kind = 0;
  DamagedPair texts;
};

constexpr std::size_t kMismatched = 0;  // among damage_kinds()

// Any of `count` but i.
std::size_t another(std::size_t i, std::size_t count, Random& random) {
  const auto other = random.below(count - 1);
  return other >= i ? other + 1 : other;
}

// Each pair with another's y, several times.
std::vector<Copy> exchange_all(std::size_t pairs, std::uint64_t seed) {
  std::vector<Copy> copies;
  Random random(seed);
  for (std::size_t i = 0; i < pairs; ++i) {
    for (std::size_t c = 0; c < kCopies; ++c) {
      copies.push_back({i, another(i, pairs, random), kMismatched, {}});
    }
  }
  return copies;
}

// Damaged copies of all pairs, the kinds in turn.
std::vector<Copy> damage_all(const Views& x, const Views& y, std::uint64_t seed) {
  const auto kinds = damage_kinds();
  std::vector<Copy> copies;
  Random random(seed);
  std::size_t next = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t c = 0; c < kCopies; ++c) {
      const auto other = another(i, x.size(), random);
      Copy copy;
      copy.source = i;
      copy.other = other;
      // Some pairs cannot be damaged in some ways: the next kind then.
      for (std::size_t tries = 0; tries < kinds.size(); ++tries) {
        copy.kind = next++ % kinds.size();
        const bool is_damaged =
            kinds[copy.kind].damage({x[i], y[i]}, {x[other], y[other]}, random, copy.texts);
        if (!is_damaged) continue;
        copies.push_back(std::move(copy));
        break;
      }
    }
  }
  return copies;
}

// The held-back pairs that a judge is fitted to, as texts or as vectors.
struct HeldBack {
  Views x;
  Views y;
  VectorPairs vectors;

  [[nodiscard]] bool has_texts() const { return !x.empty(); }
  [[nodiscard]] std::size_t size() const { return has_texts() ? x.size() : vectors.x.size(); }
};

HeldBack held_back_of(const JudgeMaterial& material, const std::vector<std::size_t>& chosen) {
  HeldBack held_back;
  if (material.pairs.empty()) {
    held_back.vectors = {material.vectors.x.select(chosen), material.vectors.y.select(chosen)};
    return held_back;
  }
  for (const auto i : chosen) {
    held_back.x.push_back(material.pairs[i].first);
    held_back.y.push_back(material.pairs[i].second);
  }
  return held_back;
}

RowMatrix room_for(const ComponentReader& reader, std::size_t rows) {
  return {static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(reader.size())};
}

// The items of texts, as each view sees them.
std::vector<VectorPairs> encode_all(const ComponentReader& reader, const Views& x, const Views& y) {
  std::vector<VectorPairs> views;
  Encoded encoded;
  const auto encode = [&](const Encoder& encoder, const Views& texts) {
    encoder.encode(texts, encoded);
    ItemBlock<float> items(encoder.shape());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (items.append(encoded.view(), i) != Fault::kNone) items.append_nothing();
    }
    return items;
  };
  for (const auto& view : reader.views()) {
    auto of_x = encode(view.x, x);
    views.push_back({std::move(of_x), encode(view.y, y)});
  }
  return views;
}

RowMatrix read_all(const ComponentReader& reader, const Views& x, const Views& y,
                   const std::vector<VectorPairs>& views) {
  auto rows = room_for(reader, views.front().x.size());
  if (rows.rows() == 0) return rows;
  std::vector<WholePairs> seen;
  seen.reserve(views.size());
  for (const auto& [of_x, of_y] : views) seen.push_back({{of_x.view(), of_y.view()}});
  JudgeScratch scratch;
  reader.read({x, y, seen}, rows.data(), scratch);
  return rows;
}

// Components of the pairs as they are, and of their copies.
struct Rows {
  RowMatrix good;
  RowMatrix bad;
};

Rows read_damaged(const ComponentReader& reader, const HeldBack& of,
                  const std::vector<Copy>& copies) {
  Views x;
  Views y;
  for (const auto& copy : copies) {
    x.push_back(copy.texts.x);
    y.push_back(copy.texts.y);
  }
  return {read_all(reader, of.x, of.y, encode_all(reader, of.x, of.y)),
          read_all(reader, x, y, encode_all(reader, x, y))};
}

Rows read_exchanged(const ComponentReader& reader, const HeldBack& of,
                    const std::vector<Copy>& copies) {
  auto views =
      of.has_texts() ? encode_all(reader, of.x, of.y) : std::vector<VectorPairs>{of.vectors};
  Rows rows;
  rows.good = read_all(reader, of.x, of.y, views);
  std::vector<std::size_t> sources;
  std::vector<std::size_t> others;
  Views x;
  Views y;
  for (const auto& copy : copies) {
    sources.push_back(copy.source);
    others.push_back(copy.other);
    if (!of.has_texts()) continue;
    x.push_back(of.x[copy.source]);
    y.push_back(of.y[copy.other]);
  }
  for (auto& view : views) view = {view.x.select(sources), view.y.select(others)};
  rows.bad = read_all(reader, x, y, views);
  return rows;
}

// What is usual for texts of such lengths.
SurfaceNorm norm_of(const HeldBack& of) {
  std::vector<PairLengths> lengths;
  SurfaceScratch sketches;
  for (std::size_t i = 0; i < of.x.size(); ++i) {
    sketches.x.read(of.x[i], judge_tokenizer());
    sketches.y.read(of.y[i], judge_tokenizer());
    lengths.push_back(lengths_of(sketches.x, sketches.y));
  }
  return SurfaceNorm::of(lengths);
}

// Which of the pairs, ascending.
std::vector<std::size_t> choose(std::size_t pairs, std::uint64_t seed) {
  std::vector<std::size_t> chosen(pairs);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (pairs <= kMostJudged) return chosen;
  const auto order = random_order(pairs, seed);
  chosen.assign(order.begin(), order.begin() + kMostJudged);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
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
    if (experts_.empty()) return;
    if (experts_.size() == 1) {
      run_for_one();
      return;
    }
    double odds = 0;
    for (int round = 0; round < kRounds; ++round) {
      cross_fit();
      const bool are_shares_needed = round == kWaryRounds || round + 1 == kRounds;
      if (are_shares_needed) {
        shares_ = estimate_shares(cross_fitted_, experts_.size(), kTooFew);
      }
      if (round == kWaryRounds) odds = odds_of_good();
      weigh(odds);
    }
  }

  [[nodiscard]] Judge::Fitted result() {
    Judge::Fitted fitted;
    fitted.standardiser = standardiser_;
    for (const auto k : experts_) {
      fitted.experts.push_back({&damage_kinds()[k], fit(k, kNoFold), fit_name(k)});
    }
    fitted.shares = shares_;
    fitted.damage = damage_by_name(fitted.experts);
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

  // Tells damaged pairs of a kind from those of all others.
  [[nodiscard]] Logistic fit_name(std::size_t kind) const {
    const auto all = static_cast<std::size_t>(bad_.rows());
    const auto own = rows_of_[kind].size();
    // Where there are no others, no coefficients are the best.
    if (own == all) return {std::vector<double>(standardiser_.columns(), 0.0), 0};
    std::vector<unsigned char> labels(all, 0);
    std::vector<double> weights(all, 1 / static_cast<double>(all - own));
    for (const auto c : rows_of_[kind]) {
      labels[c] = 1;
      weights[c] = 1 / static_cast<double>(own);
    }
    return fit_logistic(bad_, labels, weights, kPenalty);
  }

  // How much of the stream is of each kind: what looks damaged of each pair is shared out among the
  // kinds by their names.
  [[nodiscard]] std::vector<double> damage_by_name(const std::vector<Expert>& experts) const {
    std::vector<double> damage(experts.size(), 0);
    std::vector<double> odds(experts.size());
    double all = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double bad = 1 - shares_.quality(cross_fitted_.data() + i * experts.size());
      double sum = 0;
      for (std::size_t e = 0; e < experts.size(); ++e) {
        const double name =
            experts[e].name.log_odds(good_.row(static_cast<Eigen::Index>(i)).data());
        odds[e] = std::exp(std::clamp(name, -kSureName, kSureName));
        sum += odds[e];
      }
      for (std::size_t e = 0; e < experts.size(); ++e) damage[e] += bad * odds[e] / sum;
      all += bad;
    }
    for (double& share : damage) share *= all > 0 ? (1 - shares_.good) / all : 0;
    return damage;
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

  // Weighing again and again talks itself out of a single kind. But how much of the stream is of it
  // can be told without: of pairs damaged so half look worse than their median, of good ones next
  // to none (Storey, 2002). Each pair then weighs as much as it is likely to be good.
  void run_for_one() {
    cross_fit();
    const double share = share_of_one();
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      weights_[i] = std::clamp(1 - share * std::exp(-cross_fitted_[i]), kLowestWeight, 1.0);
    }
    cross_fit();
    shares_.good = 1 - share;
    shares_.kinds = {share};
  }

  [[nodiscard]] double share_of_one() const {
    const auto kind = experts_.front();
    double worse = 0;
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      std::vector<double> damaged;
      for (const auto c : rows_of_[kind]) {
        if (fold_of(sources_[c]) != fold) continue;
        const auto row = bad_.row(static_cast<Eigen::Index>(c));
        damaged.push_back(begins_[fold][kind].log_odds(row.data()));
      }
      const auto middle = damaged.begin() + static_cast<std::ptrdiff_t>(damaged.size() / 2);
      std::nth_element(damaged.begin(), middle, damaged.end());
      for (std::size_t i = fold; i < weights_.size(); i += kFolds) {
        if (cross_fitted_[i] < *middle) worse += 1;
      }
    }
    const auto pairs = static_cast<double>(weights_.size());
    return std::clamp(2 * worse / pairs, kLeastShareOfOne / pairs, kMostShareOfOne);
  }

  [[nodiscard]] double odds_of_good() const {
    return std::clamp(std::log(shares_.good / (1 - shares_.good)) + kTrust, kLeastOdds, kMostOdds);
  }

  // Weighs each pair by how good it looks. The more of the stream is damaged, the better it has to
  // look. The first rounds are wary, since experts that begin by taking damage for good go on doing
  // so. The odds are estimated once: in each round anew, they would find less and less damage.
  void weigh(double odds) {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double* const row = cross_fitted_.data() + i * experts_.size();
      const double lowest = *std::min_element(row, row + experts_.size());
      weights_[i] = std::clamp(1.5 * logistic(lowest + odds), kLowestWeight, 1.0);
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
  const bool has_texts = !material.pairs.empty();
  const auto known = has_texts ? material.pairs.size() : material.vectors.x.size();
  if (material.views.empty() || known < kFewestJudged) return nullptr;
  const auto held_back = held_back_of(material, choose(known, material.seed));
  const bool exchanges = material.exchanges || !has_texts;
  ComponentReader reader(material.views, has_texts ? material.fluency : nullptr,
                         norm_of(held_back));
  const auto copies = exchanges ? exchange_all(held_back.size(), material.seed)
                                : damage_all(held_back.x, held_back.y, material.seed);
  auto rows = exchanges ? read_exchanged(reader, held_back, copies)
                        : read_damaged(reader, held_back, copies);
  Fitting fitting(std::move(rows.good), std::move(rows.bad), copies, damage_kinds().size());
  fitting.run();
  auto fitted = fitting.result();
  if (fitted.experts.empty()) return nullptr;
  fitted.is_sampled = known > kMostJudged;
  return std::make_shared<const Judge>(std::move(reader), std::move(fitted));
}

}  // namespace phsic
