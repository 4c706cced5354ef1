#include "decide/memory_replay.h"

#include <algorithm>

#include "core/archive.h"
#include "decide/learned_pairs.h"

namespace phsic {

OptionTexts decide_options_of(const OptionTexts& options) {
  OptionTexts kept;
  std::copy_if(options.begin(), options.end(), std::back_inserter(kept),
               [](const auto& option) { return find_decide_option(option.first) != nullptr; });
  return kept;
}

DecideSpec decide_spec_of(const OptionTexts& options) {
  DecideSpec spec;
  for (const auto& [name, value] : decide_options_of(options)) spec.set(name, value);
  return spec;
}

DecisionCode code_of(const Decision& decision) {
  return {static_cast<std::uint8_t>(decision.verdict), decision.reason};
}

Decision decision_of(const DecisionCode& code) {
  return {static_cast<Verdict>(std::min(code.verdict, DecisionCode::kLastVerdict)), code.reason};
}

DecisionMemory memory_of(const StateParts& parts, const DecidePlan& plan) {
  DecisionMemory memory(plan);
  if (const auto found = parts.find(kDecidePart); found != parts.end()) memory.load(found->second);
  return memory;
}

void merge_decisions(StateParts& parts, const StateParts& others, const DecidePlan& plan) {
  auto memory = memory_of(parts, plan);
  memory.merge(memory_of(others, plan));
  memory.replay_adoption();
  parts[kDecidePart] = memory.save();
  const auto theirs = others.find(kLearnedPairsPart);
  if (theirs == others.end()) return;
  const auto ours = parts.find(kLearnedPairsPart);
  auto learned = ours == parts.end() ? LearnedPairs() : parse<LearnedPairs>(ours->second);
  learned.merge(parse<LearnedPairs>(theirs->second));
  parts[kLearnedPairsPart] = serialise(learned);
}

void MemoryReplay::open(const StateParts& parts) { memory_ = memory_of(parts, memory_.plan()); }

void MemoryReplay::learned(std::string_view x, std::string_view y, const DecisionCode& decision) {
  memory_.learned(x, y, key_of(x, y, scratch_), decision_of(decision));
}

void MemoryReplay::learned(std::span<const float> x, std::span<const float> y,
                           const DecisionCode& decision) {
  memory_.learned(key_of(x, y), decision_of(decision));
}

void MemoryReplay::rejected(const DecisionCode& decision) {
  memory_.rejected(decision_of(decision));
}

void MemoryReplay::save(StateParts& parts) const { parts[kDecidePart] = memory_.save(); }

}  // namespace phsic
