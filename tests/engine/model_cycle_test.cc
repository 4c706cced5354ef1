// The cycle of a stream's models against a stream that does as it is told, and notes that list what
// they are given.
#include "engine/model_cycle.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace phsic::test {
namespace {

using Calls = std::vector<std::string>;

std::string word_for(PairExtent extent) { return extent == PairExtent::kAll ? "all" : "most"; }

// What goes wrong, and when.
struct Trouble {
  bool in_freeze = false;
  bool in_build = false;
  bool in_adoption = false;
  bool in_adopt = false;
  bool is_memory = false;  // else an Error

  void strike(bool here) const {
    if (here && is_memory) throw std::bad_alloc();
    if (here) throw Error("found trouble, expected none");
  }
};

class FakeRefresh : public Refresh {
 public:
  FakeRefresh(Calls& calls, const Trouble& trouble) : calls_(calls), trouble_(trouble) {}

  void build() override {
    calls_.emplace_back("build");
    trouble_.strike(trouble_.in_build);
  }
  [[nodiscard]] std::string adoption() const override {
    trouble_.strike(trouble_.in_adoption);
    return "pivots";
  }

 private:
  Calls& calls_;
  const Trouble& trouble_;
};

class FakeLearner : public StreamLearner {
 public:
  explicit FakeLearner(Calls& calls) : calls_(calls) {}

  Trouble trouble;
  bool has_models = true;
  std::size_t left = 4;  // pairs until a model is due

  std::size_t learn(const LearnBatch& batch, std::size_t first, bool stops) override {
    const auto count = stops ? std::min(left, batch.size() - first) : batch.size() - first;
    left -= std::min(left, count);
    return first + count;
  }
  [[nodiscard]] std::size_t until_refresh() const override { return left; }
  [[nodiscard]] bool is_measurable() const override { return true; }
  [[nodiscard]] std::unique_ptr<Refresh> freeze(PairExtent extent) override {
    calls_.push_back("freeze " + word_for(extent));
    left = 4;
    trouble.strike(trouble.in_freeze);
    if (!has_models) return nullptr;
    return std::make_unique<FakeRefresh>(calls_, trouble);
  }
  void adopt(Refresh& /*refresh*/) override {
    trouble.strike(trouble.in_adopt);
    calls_.emplace_back("adopt");
  }
  bool refresh_every(std::uint64_t pairs) override { return std::exchange(every_, pairs) != pairs; }
  void choose_cuts(CutChooser /*chooser*/) override {}
  void set_cut(std::optional<double> /*cut*/) override {}
  void skip_refresh() override {}
  [[nodiscard]] std::uint64_t pairs() const override { return 0; }
  [[nodiscard]] std::uint64_t clipped() const override { return 0; }

 private:
  Calls& calls_;
  std::uint64_t every_ = 0;
};

class FakeNotes : public ModelCycle::Notes {
 public:
  explicit FakeNotes(Calls& calls) : calls_(calls) {}

  bool fails = false;

  void freeze(PairExtent extent) override { note("freeze " + word_for(extent)); }
  void adopt(std::string adoption) override { note("adopt " + adoption); }
  void abandon() override { note("abandon"); }
  void refresh_every(std::uint64_t pairs) override { note("every " + std::to_string(pairs)); }

 private:
  void note(const std::string& what) {
    if (fails) throw Error("found a full disk, expected room");
    calls_.push_back("note: " + what);
  }

  Calls& calls_;
};

// A stream, its notes, and everything that was called on either, in order.
struct Scene {
  Calls calls;
  FakeLearner stream{calls};
  FakeNotes notes{calls};
  ModelCycle cycle{stream, &notes};
};

// Rows without values: the stream looks at their number only.
LearnBatch blank_rows(std::size_t count) {
  LearnBatch batch;
  batch.x = DenseRows<float>{nullptr, count, 0};
  batch.y = DenseRows<float>{nullptr, count, 0};
  return batch;
}

TEST_CASE("A model is frozen, noted, built, adopted and noted, in this order") {
  Scene scene;
  scene.cycle.refresh(PairExtent::kWithoutHeldBack);
  CHECK(scene.calls ==
        Calls{"freeze most", "note: freeze most", "build", "adopt", "note: adopt pivots"});
  CHECK(scene.cycle.pending() == nullptr);
}

TEST_CASE("A model that is built elsewhere goes through the same notes") {
  Scene scene;
  REQUIRE(scene.cycle.begin(PairExtent::kAll));
  REQUIRE(scene.cycle.pending() != nullptr);
  CHECK(scene.calls == Calls{"freeze all", "note: freeze all"});
  scene.cycle.pending()->build();
  scene.cycle.adopt();
  CHECK(scene.calls ==
        Calls{"freeze all", "note: freeze all", "build", "adopt", "note: adopt pivots"});
  CHECK(scene.cycle.pending() == nullptr);
}

TEST_CASE("A model that cannot be begun is noted as begun and given up") {
  Scene scene;
  scene.stream.trouble.in_freeze = true;
  scene.stream.trouble.is_memory = GENERATE(false, true);
  CHECK_THROWS(scene.cycle.refresh(PairExtent::kAll));
  CHECK(scene.calls == Calls{"freeze all", "note: freeze all", "note: abandon"});
  CHECK(scene.cycle.pending() == nullptr);
}

TEST_CASE("A model that cannot be built is given up, and the next one can be begun") {
  Scene scene;
  scene.stream.trouble.in_build = true;
  scene.stream.trouble.is_memory = GENERATE(false, true);
  CHECK_THROWS(scene.cycle.refresh(PairExtent::kAll));
  CHECK(scene.calls == Calls{"freeze all", "note: freeze all", "build", "note: abandon"});
  CHECK(scene.cycle.pending() == nullptr);
  scene.calls.clear();
  scene.stream.trouble = {};
  scene.cycle.refresh(PairExtent::kAll);
  CHECK(scene.calls.back() == "note: adopt pivots");
}

TEST_CASE("A model whose adoption cannot be told is given up before the stream hears of it") {
  Scene scene;
  scene.stream.trouble.in_adoption = true;
  scene.stream.trouble.is_memory = GENERATE(false, true);
  REQUIRE(scene.cycle.begin(PairExtent::kAll));
  scene.cycle.pending()->build();
  CHECK_THROWS(scene.cycle.adopt());
  CHECK(scene.calls == Calls{"freeze all", "note: freeze all", "build", "note: abandon"});
  CHECK(scene.cycle.pending() == nullptr);
}

TEST_CASE("A model that the stream refuses is given up") {
  Scene scene;
  scene.stream.trouble.in_adopt = true;
  CHECK_THROWS_AS(scene.cycle.refresh(PairExtent::kAll), Error);
  CHECK(scene.calls == Calls{"freeze all", "note: freeze all", "build", "note: abandon"});
  CHECK(scene.cycle.pending() == nullptr);
}

TEST_CASE("Completing a model returns the Error of building it, and throws anything else") {
  Scene scene;
  scene.stream.trouble.in_build = true;
  REQUIRE(scene.cycle.begin(PairExtent::kAll));
  const auto problem = scene.cycle.complete();
  REQUIRE(problem);
  CHECK(std::string(problem->what()) == "found trouble, expected none");
  CHECK(scene.calls.back() == "note: abandon");
  scene.stream.trouble.is_memory = true;
  REQUIRE(scene.cycle.begin(PairExtent::kAll));
  CHECK_THROWS_AS(scene.cycle.complete(), std::bad_alloc);
  CHECK(scene.calls.back() == "note: abandon");
}

TEST_CASE("Notes that fail are no failure to build: completing throws") {
  Scene scene;
  scene.stream.trouble.in_build = GENERATE(false, true);
  REQUIRE(scene.cycle.begin(PairExtent::kAll));
  scene.notes.fails = true;
  CHECK_THROWS_AS(scene.cycle.complete(), Error);
  CHECK(scene.cycle.pending() == nullptr);
}

TEST_CASE("Learning stops where a model is due, and goes on to the end while one is on its way") {
  Scene scene;
  CHECK(scene.cycle.learn(blank_rows(3), 0) == 3);
  CHECK_FALSE(scene.cycle.is_due());
  CHECK(scene.cycle.learn(blank_rows(10), 2) == 3);
  CHECK(scene.cycle.is_due());
  REQUIRE(scene.cycle.begin(PairExtent::kWithoutHeldBack));
  CHECK_FALSE(scene.cycle.is_due());
  CHECK(scene.cycle.learn(blank_rows(10), 3) == 10);
  CHECK(scene.stream.left == 0);
  CHECK_FALSE(scene.cycle.is_due());
  scene.cycle.abandon();
  CHECK(scene.cycle.is_due());
}

TEST_CASE("How often a model is due is noted when it is new") {
  Scene scene;
  scene.cycle.refresh_every(100);
  scene.cycle.refresh_every(100);
  scene.cycle.refresh_every(0);
  CHECK(scene.calls == Calls{"note: every 100", "note: every 0"});
}

TEST_CASE("A model that was begun before is adopted like any other") {
  Scene scene;
  REQUIRE(scene.cycle.begin(PairExtent::kAll));
  auto pending = scene.cycle.take_pending();
  REQUIRE(pending != nullptr);
  CHECK(scene.cycle.pending() == nullptr);
  scene.calls.clear();
  ModelCycle next(scene.stream, &scene.notes, std::move(pending));
  CHECK_FALSE(next.is_due());
  CHECK_FALSE(next.complete());
  CHECK(scene.calls == Calls{"build", "adopt", "note: adopt pivots"});
}

TEST_CASE("A stream without models begins none and notes nothing") {
  Scene scene;
  scene.stream.has_models = false;
  CHECK_FALSE(scene.cycle.begin(PairExtent::kAll));
  scene.cycle.refresh(PairExtent::kAll);
  CHECK(scene.calls == Calls{"freeze all", "freeze all"});
}

TEST_CASE("Without notes a model needs no adoption to come into use") {
  Scene scene;
  scene.stream.trouble.in_adoption = true;
  ModelCycle cycle(scene.stream);
  cycle.refresh(PairExtent::kAll);
  cycle.refresh_every(7);
  CHECK(scene.calls == Calls{"freeze all", "build", "adopt"});
  scene.stream.trouble.in_freeze = true;
  CHECK_THROWS_AS(cycle.refresh(PairExtent::kAll), Error);
}

}  // namespace
}  // namespace phsic::test
