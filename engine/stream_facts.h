// What a stream tells of itself to its users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

struct StreamFacts {
  std::uint64_t pairs = 0;           // learned so far
  std::uint64_t clipped = 0;         // vectors shortened, being far longer than is usual
  std::string estimator;             // in use: "gaussian-pmi"
  double ridge = 0;                  // in use; 0: none
  std::optional<Accuracy> accuracy;  // self-measured
  std::optional<Dependence> dependence;
  std::vector<ViewFacts> views;  // empty where there is one
};

struct PublishedModel;
[[nodiscard]] std::vector<ViewFacts> views_of(const PublishedModel& published);

}  // namespace phsic
