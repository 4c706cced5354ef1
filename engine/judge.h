// The judge of a model: how likely a pair is to be good, and what else it probably is.
//
// One small expert for each kind of damage (damage.h) tells good pairs from pairs damaged so, by
// the components of a pair (pair_components.h). Its log odds s_k, and how much of the stream each
// kind is (core/kind_shares.h), give the probability that the pair is good:
//
//   soft minimum   -log sum_k e^-s_k            how good a pair looks, on an open scale
//   quality        pi_0 / (pi_0 + sum_k pi_k e^-s_k)
//
// Immutable; any number of threads, each with a scratch of its own. Fitted by judge_fit.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/kind_shares.h"
#include "core/logistic.h"
#include "engine/damage.h"
#include "engine/judge_scratch.h"
#include "engine/pair_components.h"

namespace phsic {

// What an expert looks for. `model` tells good pairs from pairs of its kind. How sure it is of a
// pair of another kind means nothing, so `name` tells its kind from the others.
struct Expert {
  const DamageKind* kind = nullptr;
  Logistic model;
  Logistic name;
};

class Judge {
 public:
  // What fitting has found.
  struct Fitted {
    Standardiser standardiser;
    std::vector<Expert> experts;
    KindShares shares;           // by which quality is found
    std::vector<double> damage;  // the share of the stream that is of each kind, by its name
    std::uint64_t pairs = 0;     // held back, that it was fitted to
    bool is_sampled = false;     // there were more of them than it takes
  };

  Judge(ComponentReader reader, Fitted fitted)
      : reader_(std::move(reader)), fitted_(std::move(fitted)) {}

  // judgements[i] of pair i. See ComponentReader::read().
  void judge(const PairsToJudge& pairs, Judgement* judgements, JudgeScratch& scratch) const;

  [[nodiscard]] const ComponentReader& reader() const { return reader_; }
  [[nodiscard]] const Fitted& fitted() const { return fitted_; }
  // All but the models, which the stream keeps.
  void save(Writer& writer) const;

 private:
  ComponentReader reader_;
  Fitted fitted_;
};

// A judge without the models of its views.
struct SavedJudge {
  struct View {
    std::size_t number = 0;
    bool halves = false;
  };
  std::vector<View> views;
  SurfaceNorm norm;
  Judge::Fitted fitted;
  std::shared_ptr<const FluencyPair> fluency;  // null: it knows nothing of texts

  // What Judge::save() wrote.
  [[nodiscard]] static SavedJudge load(Reader& reader);
};

}  // namespace phsic
