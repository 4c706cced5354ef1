#include "decide/decision_memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "core/random.h"
#include "decide/rules.h"

namespace phsic::test {
namespace {

DecidePlan memory_plan(CutSpec cut = {CutSpec::Kind::kKeep, 0.5}, std::uint32_t window = 50) {
  DecidePlan plan;
  plan.duplicate_window = window;
  plan.cut = cut;
  return plan;
}

// Scores of matched and of exchanged pairs, further apart the higher the seed.
Calibration memory_calibration(std::uint64_t seed) {
  Random random(seed);
  std::vector<double> matched;
  std::vector<double> null;
  for (int i = 0; i < 300; ++i) {
    matched.push_back(random.normal() + static_cast<double>(seed % 5));
    null.push_back(random.normal());
  }
  return {std::move(matched), std::move(null)};
}

// Something that happened to a stream, told to its memory, and, as a journal would have it, to a
// second one that decides nothing.
void happen(Random& random, DecisionMemory& memory, DecisionMemory* replayed) {
  const std::uint64_t what = random.below(100);
  if (what < 3) {
    static_cast<void>(memory.choose_cut(memory_calibration(random.below(20))));
    if (replayed == nullptr) return;
    // Also without a new model: another cut was wanted.
    if (what > 0) {
      replayed->replay_adoption();
      CHECK(!replayed->has_cut());
    }
    replayed->replay_cut(memory.cut_note());
    return;
  }
  const std::string x = "text " + std::string(random.below(30), 'a') + std::to_string(what);
  const std::string y = "Text " + std::string(random.below(30), 'b');
  std::string scratch;
  const PairKey key = key_of(x, y, scratch);
  const auto reason = memory.recent().find(key);
  const auto tell = [&](DecisionMemory& told) {
    if (reason != reasons::kNone) {
      told.rejected({Verdict::kDrop, reason});
    } else if (what < 10) {
      told.learned(key, {Verdict::kKeep, reasons::kNone});
    } else {
      told.learned(x, y, key, decide_by_score(static_cast<double>(what), 50.0));
    }
  };
  tell(memory);
  if (replayed != nullptr) tell(*replayed);
}

void check_same(const DecisionMemory& one, const DecisionMemory& other) {
  CHECK(one.counts() == other.counts());
  CHECK(one.recent().keys() == other.recent().keys());
  CHECK(one.rejected_share() == other.rejected_share());
  CHECK(one.has_cut() == other.has_cut());
  CHECK(one.cut() == other.cut());
  CHECK(*one.profile() == *other.profile());
  CHECK(one.save() == other.save());
}

DecisionMemory lived(int steps, std::uint64_t seed = 1) {
  Random random(seed);
  DecisionMemory memory(memory_plan());
  for (int i = 0; i < steps; ++i) happen(random, memory, nullptr);
  return memory;
}

TEST_CASE("A memory that was saved goes on as if it had not been") {
  for (const int steps : {0, 1, 30, 300, 2000}) {
    CAPTURE(steps);
    DecisionMemory memory = lived(steps);
    DecisionMemory again(memory_plan());
    again.rejected({Verdict::kDrop, reasons::kDuplicate});
    again.load(memory.save());
    check_same(again, memory);
    Random random(2);
    Random same(2);
    for (int i = 0; i < 300; ++i) {
      happen(random, memory, nullptr);
      happen(same, again, nullptr);
    }
    check_same(again, memory);
  }
}

TEST_CASE("A memory replayed from a journal is the one that decided") {
  const CutSpec cuts[] = {{CutSpec::Kind::kNone, 0},
                          {CutSpec::Kind::kKeep, 0.67},
                          {CutSpec::Kind::kP, 0.05},
                          {CutSpec::Kind::kFdr, 0.1},
                          {CutSpec::Kind::kScore, 1.5}};
  for (const CutSpec& cut : cuts) {
    CAPTURE(cut.value);
    Random random(3);
    DecisionMemory memory(memory_plan(cut));
    DecisionMemory replayed(memory_plan(cut));
    for (int i = 0; i < 1000; ++i) happen(random, memory, &replayed);
    REQUIRE(memory.has_cut());
    check_same(replayed, memory);
  }
}

TEST_CASE("Until its note comes, a model that was adopted has no cut") {
  DecisionMemory memory = lived(300);
  REQUIRE(memory.has_cut());
  const std::string note = memory.cut_note();
  memory.replay_adoption();
  CHECK(!memory.has_cut());
  const std::string before = memory.save();
  for (std::size_t size = 0; size < note.size(); ++size) {
    CHECK_THROWS_AS(memory.replay_cut(note.substr(0, size)), Error);
  }
  CHECK_THROWS_AS(memory.replay_cut(note + "x"), Error);
  CHECK(memory.save() == before);
  memory.replay_cut(note);
  CHECK(memory.has_cut());
}

TEST_CASE("The share of rejected pairs is that of recent ones") {
  DecisionMemory memory(memory_plan());
  CHECK(memory.rejected_share() == 0);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    memory.rejected({Verdict::kDrop, reasons::kDuplicate});
    memory.learned({i, i}, {Verdict::kKeep, reasons::kNone});
  }
  CHECK(memory.rejected_share() == Approx(0.5).margin(0.001));
  CHECK(memory.counts().verdicts == std::array<std::uint64_t, 3>{1000, 1000, 0});
  CHECK(memory.counts().reasons.at(reasons::kDuplicate) == 1000);
  for (std::uint64_t i = 0; i < 40000; ++i) memory.rejected({Verdict::kDrop, reasons::kDuplicate});
  CHECK(memory.rejected_share() > 0.99);
}

TEST_CASE("Merged memories know the pairs and decisions of both, and keep the one's cut") {
  DecisionMemory one = lived(300, 1);
  const DecisionMemory other = lived(500, 2);
  const auto before = one;
  RecentPairs recent = one.recent();
  recent.merge(other.recent());
  one.merge(other);
  CHECK(one.recent().keys() == recent.keys());
  CHECK(one.cut() == before.cut());
  CHECK(one.has_cut() == before.has_cut());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(one.counts().verdicts[i] == before.counts().verdicts[i] + other.counts().verdicts[i]);
  }
  std::map<ReasonCode, std::uint64_t> sums = before.counts().reasons;
  for (const auto& [reason, number] : other.counts().reasons) sums[reason] += number;
  CHECK(one.counts().reasons == sums);
}

TEST_CASE("The share of rejected pairs of merged memories lies between theirs") {
  for (const int steps : {10, 3000, 20000}) {
    CAPTURE(steps);
    DecisionMemory half(memory_plan());
    DecisionMemory none(memory_plan());
    for (int i = 0; i < steps; ++i) {
      const PairKey key{static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(i)};
      half.learned(key, {Verdict::kKeep, reasons::kNone});
      half.rejected({Verdict::kDrop, reasons::kDuplicate});
      none.learned(key, {Verdict::kKeep, reasons::kNone});
      none.learned(key, {Verdict::kKeep, reasons::kNone});
    }
    DecisionMemory twice = half;
    twice.merge(half);
    CHECK(twice.rejected_share() == Approx(half.rejected_share()));
    half.merge(none);
    CHECK(half.rejected_share() == Approx(0.25).margin(0.01));
    DecisionMemory again(memory_plan());
    again.load(half.save());
    CHECK(again.save() == half.save());
  }
}

TEST_CASE("Another plan is taken over, but for the window of duplicates") {
  DecisionMemory memory = lived(300);
  auto plan = memory_plan({CutSpec::Kind::kScore, 2.5}, 7);
  memory.set_plan(plan);
  CHECK(memory.recent().capacity() == 50);
  plan.duplicate_window = 50;
  CHECK(memory.plan() == plan);
  CHECK(memory.choose_cut(Calibration()) == 2.5);
}

TEST_CASE("Saved memories, cut or changed anywhere, are refused, and nothing changes") {
  const std::string bytes = lived(300).save();
  DecisionMemory memory = lived(20, 7);
  const std::string before = memory.save();
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / 4099);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    CAPTURE(at);
    REQUIRE_THROWS_AS(memory.load(std::string_view(bytes).substr(0, at)), Error);
    std::string bent = bytes;
    bent[at] = static_cast<char>(bent[at] ^ (1 << (at % 8)));
    REQUIRE_THROWS_AS(memory.load(bent), Error);
  }
  CHECK_THROWS_AS(memory.load(bytes + "x"), Error);
  CHECK(memory.save() == before);
}

TEST_CASE("A memory changed anywhere is refused or stays usable, even with a right checksum") {
  const std::string bytes = lived(300).save();
  const auto payload = unseal(DecisionMemory::kArchiveKind, bytes).rest();
  // What comes at the end is changed byte by byte.
  const std::size_t step = std::max<std::size_t>(1, payload.size() / 499);
  int accepted = 0;
  for (std::size_t at = 0; at < payload.size(); at += at + 200 < payload.size() ? step : 1) {
    CAPTURE(at);
    std::string bent(payload.begin(), payload.end());
    bent[at] = static_cast<char>(bent[at] ^ 0x55);
    DecisionMemory memory(memory_plan());
    try {
      memory.load(seal(DecisionMemory::kArchiveKind, bent));
    } catch (const Error&) {
      continue;
    }
    ++accepted;
    REQUIRE(memory.rejected_share() >= 0);
    REQUIRE(memory.rejected_share() <= 1);
    Random random(at);
    for (int i = 0; i < 20; ++i) happen(random, memory, nullptr);
    DecisionMemory again(memory_plan());
    again.load(memory.save());
    REQUIRE(again.save() == memory.save());
  }
  CHECK(accepted > 0);
}

TEST_CASE("A score is kept from the cut on, and undecided where there is no score or no cut") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(decide_by_score(1, 1.0) == Decision{Verdict::kKeep, reasons::kNone});
  CHECK(decide_by_score(0.9, 1.0) == Decision{Verdict::kDrop, reasons::kCut});
  CHECK(decide_by_score(-1e300, -kInfinity).verdict == Verdict::kKeep);
  CHECK(decide_by_score(1e300, kInfinity).verdict == Verdict::kDrop);
  CHECK(decide_by_score(1, std::nullopt) == Decision{Verdict::kUndecided, reasons::kNoModel});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(decide_by_score(nan, 1.0) == Decision{Verdict::kUndecided, reasons::kUnscored});
}

TEST_CASE("A rule counts more than any score, and what rejects no pair leaves it to the score") {
  const auto rule = reason_of(*find_rule("no_empty"), PairSide::kLeft);
  const Decision kept{Verdict::kKeep, reasons::kNone};
  for (const auto reason : {rule, reasons::kDuplicate, reasons::kNearDuplicate}) {
    CHECK(decide_by_rule(reason, kept) == Decision{Verdict::kDrop, reason});
  }
  for (const auto reason : {reasons::kNone, reasons::kUnscored, reasons::kNoModel, reasons::kCut}) {
    CHECK(decide_by_rule(reason, kept) == kept);
  }
}

}  // namespace
TEST_CASE("Rules about languages give way when they reject most pairs") {
  DecidePlan plan;
  plan.rules = RuleSet::hard();
  DecisionMemory memory(plan);
  std::string scratch;
  const Decision keep{Verdict::kKeep, reasons::kNone};
  for (int i = 0; i < 1000; ++i) {
    const auto x = "the horse number " + std::string(1, static_cast<char>('a' + i % 26));
    const auto y = "das Pferd Nummer " + std::string(1, static_cast<char>('a' + i % 26));
    memory.learned(x, y, key_of(x, y, scratch), keep);
  }
  static_cast<void>(memory.choose_cut(Calibration({1, 2}, {0})));
  const auto before = memory.profile();
  const Decision other{Verdict::kDrop,
                       reason_of(*find_rule("no_script_inconsistencies"), PairSide::kLeft)};
  const Decision empty{Verdict::kDrop, reason_of(*find_rule("no_empty"), PairSide::kLeft)};
  int others = 0;
  for (; memory.profile() == before && others < 5000; ++others) memory.rejected(other);
  CHECK(others > 500);
  CHECK(memory.rejected_share() > 0.5);
  CHECK(*memory.profile() == LanguageProfile());
  // Another reason, however often, says nothing about languages.
  static_cast<void>(memory.choose_cut(Calibration({1, 2}, {0})));
  const auto again = memory.profile();
  for (int i = 0; i < 5000; ++i) memory.rejected(empty);
  CHECK(memory.profile() == again);
}

}  // namespace phsic::test
