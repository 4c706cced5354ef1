#include "state/seen_ids.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <string>

#include "core/random.h"

namespace phsic::test {
namespace {

// The same by brute force.
class Oracle {
 public:
  explicit Oracle(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] bool contains(const IdHash& id) const {
    return std::find(ids_.begin(), ids_.end(), id) != ids_.end();
  }

  bool add(const IdHash& id) {
    if (contains(id)) return false;
    ids_.push_back(id);
    if (ids_.size() > capacity_) ids_.pop_front();
    return true;
  }

  [[nodiscard]] std::vector<IdHash> ids() const { return {ids_.begin(), ids_.end()}; }

 private:
  std::size_t capacity_;
  std::deque<IdHash> ids_;
};

// One of so many ids.
IdHash random_id(Random& random, std::uint64_t different) {
  return hash_id(std::to_string(random.below(different)));
}

std::string saved(const SeenIds& seen) {
  Writer writer;
  seen.save(writer);
  return writer.bytes();
}

void load(SeenIds& seen, const std::string& bytes) {
  Reader reader(bytes);
  seen.load(reader);
  reader.finish();
}

std::string bytes_of(const std::vector<std::uint64_t>& halves) {
  Writer writer;
  writer.array(halves);
  return writer.bytes();
}

TEST_CASE("A window of ids is what brute force says") {
  for (const std::size_t capacity : {0, 1, 2, 3, 7, 8, 9, 64, 100, 333}) {
    // Few different ids are mostly there, many mostly new, so that the ring goes round often.
    for (const std::uint64_t factor : {1, 2, 50}) {
      CAPTURE(capacity, factor);
      Random random(capacity, factor);
      SeenIds seen(capacity);
      Oracle oracle(capacity);
      const std::uint64_t different = factor * capacity + 2;
      for (int step = 0; step < 6000; ++step) {
        const IdHash id = random_id(random, different);
        REQUIRE(seen.contains(id) == oracle.contains(id));
        REQUIRE(seen.add(id) == oracle.add(id));
        const IdHash other = random_id(random, different);
        REQUIRE(seen.contains(other) == oracle.contains(other));
        if (step % 100 == 0) REQUIRE(seen.ids() == oracle.ids());
      }
      CHECK(seen.size() == oracle.ids().size());
      CHECK(seen.capacity() == capacity);
    }
  }
}

TEST_CASE("Ids that differ in one half alone are different") {
  SeenIds seen(4000);
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    CHECK(seen.add({i, 0}));
    CHECK(seen.add({0, i}));
    CHECK(seen.add({i << 40, 0}));
  }
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    CHECK(seen.contains({0, i}));
    CHECK(!seen.contains({i, 1}));
  }
}

TEST_CASE("No id is never there and never added") {
  SeenIds seen(10);
  CHECK(seen.add(kNoId));
  CHECK(seen.add(kNoId));
  CHECK(!seen.contains(kNoId));
  CHECK(seen.size() == 0);
}

TEST_CASE("A window of nothing remembers nothing") {
  SeenIds seen(0);
  CHECK(seen.add(hash_id("a")));
  CHECK(seen.add(hash_id("a")));
  CHECK(!seen.contains(hash_id("a")));
  CHECK(seen.size() == 0);
  CHECK_THROWS_WITH(SeenIds(SeenIds::kMaxCapacity + 1),
                    Catch::Contains("found a window of 1073741825, expected at most 1073741824"));
}

TEST_CASE("An id's hash is XXH3-128, the same on every machine") {
  CHECK(hash_id("") == IdHash{0x6001c324468d497f, 0x99aa06d3014798d8});
  CHECK(hash_id("a") != hash_id("b"));
  CHECK(hash_id(std::string_view("\0", 1)) != hash_id(""));
}

TEST_CASE("A window that was saved goes on as if it had not been") {
  for (const std::size_t pairs : {0, 1, 5, 99, 100, 101, 250, 1000}) {
    CAPTURE(pairs);
    Random random(pairs);
    SeenIds seen(100);
    for (std::size_t i = 0; i < pairs; ++i) seen.add(random_id(random, 300));
    SeenIds again(100);
    // What was there gives way.
    again.add(hash_id("other"));
    load(again, saved(seen));
    REQUIRE(again.ids() == seen.ids());
    REQUIRE(saved(again) == saved(seen));
    for (int i = 0; i < 1000; ++i) {
      const IdHash id = random_id(random, 300);
      REQUIRE(again.add(id) == seen.add(id));
    }
    CHECK(again.ids() == seen.ids());
  }
}

TEST_CASE("A smaller window keeps the newest ids, a larger one all") {
  SeenIds seen(100);
  for (int i = 0; i < 150; ++i) seen.add(hash_id(std::to_string(i)));
  for (const std::size_t capacity : {0, 1, 30, 100, 1000}) {
    CAPTURE(capacity);
    SeenIds other(capacity);
    load(other, saved(seen));
    const std::size_t kept = std::min<std::size_t>(capacity, 100);
    CHECK(other.capacity() == capacity);
    REQUIRE(other.size() == kept);
    for (std::size_t i = 0; i < 150; ++i) {
      CHECK(other.contains(hash_id(std::to_string(i))) == (i >= 150 - kept));
    }
    // It goes on as one of its own size.
    Oracle oracle(capacity);
    for (const IdHash& id : other.ids()) oracle.add(id);
    Random random(1);
    for (int i = 0; i < 500; ++i) {
      const IdHash id = random_id(random, 300);
      REQUIRE(other.add(id) == oracle.add(id));
    }
    CHECK(other.ids() == oracle.ids());
  }
}

TEST_CASE("A saved window that makes no sense is refused, and changes nothing") {
  SeenIds seen(4);
  seen.add(hash_id("kept"));
  const auto before = seen.ids();
  const auto refused = [&](const std::string& bytes, const char* why) {
    CHECK_THROWS_WITH(load(seen, bytes), Catch::Contains(why));
    CHECK(seen.ids() == before);
  };
  refused(bytes_of({1, 2, 3, 4, 1, 2}), "found the id at 2 twice");
  refused(bytes_of({1, 2, 0, 0}), "found no id at 1");
  refused(bytes_of({1, 2, 3}), "found 3 halves of ids");
  // Even among those that would not fit.
  refused(bytes_of({1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}), "found the id at 1 twice");
  refused(bytes_of({7, 7, 2, 2, 3, 3, 4, 4, 5, 5, 7, 7}), "found the id at 5 twice");
  refused("", "bytes left, expected 8");
  refused(bytes_of({1, 2, 3, 4}).substr(0, 30), "found a count of 4, expected at most the 2");
  Writer huge;
  huge.number<std::uint64_t>(1ULL << 60);
  refused(huge.bytes(), "found a count of");
}

}  // namespace
}  // namespace phsic::test
