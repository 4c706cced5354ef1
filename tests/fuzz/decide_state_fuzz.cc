// Saved memories of decisions: recent pairs, learned pairs, and everything together.
#include "decide/decision_memory.h"
#include "decide/learned_pairs.h"
#include "decide/recent_pairs.h"
#include "tests/fuzz/check_state.h"

namespace phsic::fuzz {
namespace {

constexpr std::uint32_t kWindow = 16;
constexpr PairKey kNew{1, 2};

void check_recent(const std::string& payload) {
  RecentPairs recent(kWindow);
  try {
    Reader reader(payload);
    recent.load(reader);
  } catch (const Error&) {
    require(recent.size() == 0, "what is refused changes nothing");
    return;
  }
  for (const PairKey& key : recent.keys()) {
    require(recent.find(key) == reasons::kDuplicate, "what was loaded is there");
  }
  recent.add(kNew);
  require(recent.find(kNew) != reasons::kNone, "what was added is there");
  require(recent.size() <= kWindow, "no more than the window");
}

void check_learned(const std::string& payload) {
  const std::string bytes = seal(LearnedPairs::kArchiveKind, payload);
  auto learned = parse_or_refuse<LearnedPairs>(bytes);
  if (!learned) return;
  require(serialise(*learned) == bytes, "what was parsed is what was saved");
  learned->add(kNew);
  learned->settle(0);
  require(learned->contains(kNew), "what was learned is there");
}

void check_memory(const std::string& payload) {
  DecidePlan plan;
  plan.duplicate_window = kWindow;
  DecisionMemory memory(plan);
  const std::string before = memory.save();
  try {
    memory.load(seal(DecisionMemory::kArchiveKind, payload));
  } catch (const Error&) {
    require(memory.save() == before, "what is refused changes nothing");
    return;
  }
  memory.learned("a text", "and another", kNew, {});
  memory.merge(memory);
  static_cast<void>(memory.choose_cut(Calibration({0, 1, 2}, {0, 1})));
  DecisionMemory again(plan);
  again.load(memory.save());
  require(again.save() == memory.save(), "what was loaded is what was saved");
}

}  // namespace
}  // namespace phsic::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string payload(reinterpret_cast<const char*>(data), size);
  phsic::fuzz::check_recent(payload);
  phsic::fuzz::check_learned(payload);
  phsic::fuzz::check_memory(payload);
  return 0;
}
