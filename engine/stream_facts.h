// What a stream tells of itself to its users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/accuracy.h"
#include "core/dependence_facts.h"

namespace phsic {

// One view of several, in the model in use.
struct ViewFacts {
  std::string name;
  double weight = 0;      // of all views'
  std::string estimator;  // in use
  double ridge = 0;
  std::optional<Accuracy> accuracy;  // self-measured, by itself
  std::string problem;               // why it has no model, if so and known
};

// What the judge of a stream has found it to suffer from.
struct DamageFacts {
  double junk_share = 0;  // the estimated share of damaged pairs
  // With more damage than that the estimate, and so quality, is a rough one.
  static constexpr double kMostTrusted = 0.4;
  [[nodiscard]] bool is_trusted() const { return junk_share <= kMostTrusted; }
  std::vector<std::pair<std::string, double>> kinds;  // the share of each kind
};

struct StreamFacts {
  std::uint64_t pairs = 0;           // learned so far
  std::uint64_t clipped = 0;         // vectors shortened, being far longer than is usual
  std::string estimator;             // in use: "gaussian-pmi"
  double ridge = 0;                  // in use; 0: none
  std::optional<Accuracy> accuracy;  // self-measured
  std::optional<Dependence> dependence;
  std::vector<ViewFacts> views;       // empty where there is one
  std::optional<DamageFacts> damage;  // none without a judge
};

struct PublishedModel;
[[nodiscard]] std::vector<ViewFacts> views_of(const PublishedModel& published);
[[nodiscard]] std::optional<DamageFacts> damage_of(const PublishedModel& published);

}  // namespace phsic
