// Once warm, scoring, watching for drift and remembering ids and pairs allocate nothing, and
// learning allocates nothing for each pair. A step that runs out of memory changes nothing. This is
// a program of its own, because it counts every call of operator new, and lets some of them fail.
#include <malloc.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "core/drift.h"
#include "core/pmi.h"
#include "core/random.h"
#include "core/refresh.h"
#include "core/reservoir.h"
#include "decide/recent_pairs.h"
#include "engine/view_scores.h"
#include "engine/viewed_model.h"
#include "state/seen_ids.h"
#include "tests/core/allocations.h"
#include "tests/core/streams.h"

std::atomic<std::size_t> phsic::test::live_bytes{0};
std::atomic<std::size_t> phsic::test::peak_bytes{0};

namespace {

using phsic::test::live_bytes;
using phsic::test::peak_bytes;

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> last_allocation{SIZE_MAX};  // from there on there is no memory
std::atomic<std::size_t> largest{0};                 // in bytes

void* counted_or_null(std::size_t size) noexcept {
  if (++allocations > last_allocation) return nullptr;
  if (size > largest) largest = size;
  void* memory = std::malloc(size == 0 ? 1 : size);
  live_bytes += malloc_usable_size(memory);
  if (live_bytes > peak_bytes) peak_bytes = live_bytes.load();
  return memory;
}

void release(void* memory) noexcept {
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

void* counted(std::size_t size) {
  if (void* memory = counted_or_null(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
// The nothrow ones too: whatever these operators delete must have come from malloc.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }

namespace phsic::test {
namespace {

struct Case {
  const char* kernel;
  ItemKind kind;
};

StreamConfig config_for(const Case& of, const Stream<float>& stream) {
  StreamConfig config;
  config.x = {stream.x.shape(), Kernel::parse(of.kernel), 0};
  config.y = {stream.y.shape(), Kernel::parse(of.kernel), 0};
  config.reservoir = 64;
  return config;
}

constexpr Case kCases[] = {
    {"linear", ItemKind::kDense},   {"cosine", ItemKind::kDense},
    {"gaussian", ItemKind::kDense}, {"sum(cosine,laplacian:gamma=0.1)", ItemKind::kDense},
    {"cosine", ItemKind::kSparse},  {"gaussian", ItemKind::kSparse}};

// Does the work with memory for `count` allocations. False: that was not enough.
template <class Work>
bool try_with(std::size_t count, const Work& work) {
  last_allocation = allocations + count;
  try {
    work();
    last_allocation = SIZE_MAX;
    return true;
  } catch (const std::bad_alloc&) {
    last_allocation = SIZE_MAX;
    return false;
  }
}

TEST_CASE("A pair that there is no memory for leaves counts as they were") {
  Random random(5);
  CountPmi calm(20);
  CountPmi tried(20);
  std::size_t failures = 0;
  for (int i = 0; i < 300; ++i) {
    const auto x = "x" + std::to_string(random.below(60));
    const auto y = "y" + std::to_string(random.below(60));
    CHECK(calm.learn(x, y, 1, 0.99) == Fault::kNone);
    const auto before = serialise(tried);
    for (std::size_t count = 0; !try_with(count,
                                          [&] {
                                            if (tried.learn(x, y, 1, 0.99) != Fault::kNone)
                                              throw Error("refused");
                                          });
         ++count) {
      ++failures;
      REQUIRE(serialise(tried) == before);
    }
    REQUIRE(serialise(tried) == serialise(calm));
  }
  CHECK(failures > 300);
}

TEST_CASE("Blending what views say allocates nothing, also where a view finds nothing") {
  constexpr std::size_t kPairs = 256;
  auto viewed = std::make_shared<ViewedModel>();
  viewed->blend = Blend({{0.5, 0, 1}, {0.5, 0, 1}});
  auto published = std::make_shared<PublishedModel>();
  published->viewed = std::move(viewed);
  Batch batch;
  batch.published = std::move(published);
  for (const float second : {1.0F, 0.0F}) {
    std::vector<float> values(kPairs, 1);
    values[1] = second;
    auto& view = batch.views.emplace_back();
    view.x.take({values.data(), kPairs, 1});
    view.y.take({values.data(), kPairs, 1});
    view.scores.assign(kPairs, 3);
    view.usable.assign(kPairs, true);
  }
  mark_seen(batch);
  batch.asked = bit_of(0) | bit_of(1);
  blend_scores(batch);
  REQUIRE(batch.unasked.size() == 1);
  CHECK(try_with(0, [&] { blend_scores(batch); }));
  CHECK(batch.unasked.size() == 1);
}

TEST_CASE("Ids that there is no memory for are not half remembered, and room for them is enough") {
  SeenIds seen(500);
  for (int i = 0; i < 400; ++i) {
    const auto id = hash_id(std::to_string(i));
    for (std::size_t count = 0; !try_with(count, [&] { seen.reserve(1); }); ++count) {
      REQUIRE_FALSE(seen.contains(id));
      REQUIRE(seen.size() == static_cast<std::size_t>(i));
    }
    REQUIRE(try_with(0, [&] { seen.add(id); }));
    REQUIRE(seen.contains(id));
    REQUIRE(seen.contains(hash_id("0")));
  }
}

TEST_CASE("Warm scoring allocates nothing") {
  for (const Case& each : kCases) {
    CAPTURE(each.kernel);
    const auto stream =
        make_stream<float>({.kind = each.kind, .dim_x = 20, .dim_y = 20, .pairs = 1500}, 1);
    Learner<float> learner(config_for(each, stream));
    learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
    for (const auto kind : {EstimatorKind::kPhsic, EstimatorKind::kGaussianPmi}) {
      EstimatorSpec spec;
      spec.kind = kind;
      const auto model = refresh(learner, spec, Learner<float>::Extent::kAll).model;
      ScoreScratch<float> scratch;
      std::vector<double> scores(stream.size());
      const std::vector<double> shares(stream.size(), 1e-3);
      const auto score_in_batches = [&] {
        for (const std::size_t size : {1, 7, 256, 1000}) {
          model->score(slice(stream.x.view(), 0, size), slice(stream.y.view(), 0, size),
                       scores.data(), nullptr, scratch);
          model->score(slice(stream.x.view(), 0, size), slice(stream.y.view(), 0, size),
                       scores.data(), nullptr, scratch, shares.data());
          model->score_one_to_many(slice(stream.x.view(), 3, 1), slice(stream.y.view(), 0, size),
                                   scores.data(), nullptr, scratch);
        }
      };
      score_in_batches();
      const std::size_t before = allocations;
      score_in_batches();
      CHECK(allocations - before == 0);
    }
  }
}

TEST_CASE("Warm learning allocates less than once a block") {
  for (const Case& each : kCases) {
    CAPTURE(each.kernel);
    const auto stream =
        make_stream<float>({.kind = each.kind, .dim_x = 20, .dim_y = 20, .pairs = 4096}, 2);
    Learner<float> learner(config_for(each, stream));
    const auto learn = [&] {
      learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
    };
    for (int i = 0; i < 8; ++i) learn();
    const std::size_t before = allocations;
    for (int i = 0; i < 4; ++i) learn();
    const std::size_t blocks = 4 * stream.size() / kBlockPairs;
    CHECK(allocations - before < blocks);
  }
}

TEST_CASE("Watching for drift allocates nothing but at a restart") {
  Random random(3);
  std::vector<double> scores(300);
  for (double& score : scores) score = random.normal();
  DriftAlarm alarm(1e-9);
  alarm.restart(Calibration(scores, scores));
  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i) alarm.add(scores);
  CHECK(alarm.looks() > 6);
  CHECK(allocations - before == 0);
}

TEST_CASE("A reservoir holds twice its capacity at most, however many pairs were displaced") {
  constexpr std::size_t kCapacity = 10;
  constexpr ItemShape kRow{ItemKind::kDense, 100};
  Reservoir<double> reservoir(kCapacity, kRow, kRow);
  const std::vector<double> values(100, 1);
  const DenseRows<double> row{values.data(), 1, values.size()};
  largest = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    // Every pair displaces another.
    reservoir.offer(row, row, 0, i, 50 * double(i), Random(3, i).uniform());
  }
  CHECK(reservoir.size() == kCapacity);
  CHECK(reservoir.sequences().size() == kCapacity);
  // A vector that grows may take twice what it needs.
  CHECK(largest <= 2 * 2 * kCapacity * sizeof(double) * values.size());
}

TEST_CASE("A full window of ids allocates nothing, and an unused one nothing either") {
  const std::size_t before_all = allocations;
  SeenIds seen(1000);
  CHECK(allocations == before_all);
  for (std::uint64_t i = 1; i <= 1000; ++i) seen.add({i, i});
  const std::size_t before = allocations;
  for (std::uint64_t i = 1; i <= 10000; ++i) seen.add({i, i + 1});
  CHECK(allocations == before);
}

TEST_CASE("Keys of texts and a full window of pairs allocate nothing once warm") {
  constexpr std::string_view kText = "What is 1,234 \u00e4 \u4f60\u597d \xff?";
  std::string scratch;
  static_cast<void>(key_of(kText, kText, scratch));
  RecentPairs recent(1000);
  recent.reserve(1000);
  const std::size_t before = allocations;
  for (std::uint64_t i = 1; i <= 10000; ++i) {
    auto key = key_of(kText, kText.substr(0, i % kText.size()), scratch);
    key.near += i;
    REQUIRE(recent.find(key) == reasons::kNone);
    recent.add(key);
  }
  CHECK(allocations == before);
}

}  // namespace
}  // namespace phsic::test
