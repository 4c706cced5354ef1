// Takes decisions from saved state, and says where they are in it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decide/decide_spec.h"
#include "decide/decision_memory.h"
#include "engine/decision_replay.h"

namespace phsic {

// Names of parts of saved state: DecisionMemory::save(), a JSON object of options that say how it
// was decided, and LearnedPairs.
inline constexpr const char* kDecidePart = "decide";
inline constexpr const char* kDecideOptionsPart = "decide-options";
inline constexpr const char* kLearnedPairsPart = "learned-pairs";

using OptionTexts = std::vector<std::pair<std::string, std::string>>;

// Those of the options that are about decisions.
[[nodiscard]] OptionTexts decide_options_of(const OptionTexts& options);
// What these options say. Throws an Error that names the one that is wrong.
[[nodiscard]] DecideSpec decide_spec_of(const OptionTexts& options);

[[nodiscard]] DecisionCode code_of(const Decision& decision);
[[nodiscard]] Decision decision_of(const DecisionCode& code);

// The memory that saved state has, or a new one where it has none. Throws an Error if the memory is
// damaged.
[[nodiscard]] DecisionMemory memory_of(const StateParts& parts, const DecidePlan& plan);

// Adds what was decided about other pairs. A model of all of them has no cut until one is chosen.
void merge_decisions(StateParts& parts, const StateParts& others, const DecidePlan& plan);

class MemoryReplay : public DecisionReplay {
 public:
  explicit MemoryReplay(const DecidePlan& plan) : memory_(plan) {}

  [[nodiscard]] const DecisionMemory& memory() const { return memory_; }

  void open(const StateParts& parts) override;
  void learned(std::string_view x, std::string_view y, const DecisionCode& decision) override;
  void learned(std::span<const float> x, std::span<const float> y,
               const DecisionCode& decision) override;
  void rejected(const DecisionCode& decision) override;
  void adopted() override { memory_.replay_adoption(); }
  void cut(std::string_view note) override { memory_.replay_cut(note); }
  void save(StateParts& parts) const override;

 private:
  DecisionMemory memory_;
  std::string scratch_;
};

}  // namespace phsic
