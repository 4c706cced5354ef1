#include "decide/recent_pairs.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <set>
#include <string>

#include "core/random.h"

namespace phsic::test {
namespace {

PairKey text_key(std::string_view x, std::string_view y) {
  std::string scratch;
  return key_of(x, y, scratch);
}

// The same by brute force.
class RecentOracle {
 public:
  explicit RecentOracle(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] ReasonCode find(const PairKey& key) const {
    const auto found = std::find_if(keys_.begin(), keys_.end(),
                                    [&](const PairKey& other) { return other.near == key.near; });
    if (found == keys_.end()) return reasons::kNone;
    return found->exact == key.exact ? reasons::kDuplicate : reasons::kNearDuplicate;
  }

  void add(const PairKey& key) {
    if (find(key) != reasons::kNone) return;
    keys_.push_back(key);
    if (keys_.size() > capacity_) keys_.pop_front();
  }

  [[nodiscard]] std::vector<PairKey> keys() const { return {keys_.begin(), keys_.end()}; }

 private:
  std::size_t capacity_;
  std::deque<PairKey> keys_;
};

// One of so many pairs, in one of three spellings.
PairKey random_key(Random& random, std::uint64_t different) {
  constexpr std::array<const char*, 3> kSpellings{"No. %", "no %", "NO %!"};
  std::string text = kSpellings[random.below(3)];
  // Letters, since numbers are all alike.
  std::string name;
  for (std::uint64_t left = random.below(different) + 1; left > 0; left /= 26) {
    name += static_cast<char>('a' + left % 26);
  }
  text.replace(text.find('%'), 1, name);
  return text_key(text, text);
}

std::string saved_pairs(const RecentPairs& recent) {
  Writer writer;
  recent.save(writer);
  return writer.bytes();
}

void load_pairs(RecentPairs& recent, const std::string& bytes) {
  Reader reader(bytes);
  recent.load(reader);
  reader.finish();
}

std::string pair_bytes(const std::vector<std::uint64_t>& halves) {
  Writer writer;
  writer.array(halves);
  return writer.bytes();
}

RecentPairs filled(std::size_t capacity, std::uint64_t first, std::uint64_t last) {
  RecentPairs recent(capacity);
  for (std::uint64_t i = first; i < last; ++i) recent.add({i, i});
  return recent;
}

TEST_CASE("A window of pairs is what brute force says") {
  for (const std::size_t capacity : {0, 1, 2, 3, 8, 9, 64, 100, 333}) {
    for (const std::uint64_t factor : {1, 2, 50}) {
      CAPTURE(capacity, factor);
      Random random(capacity, factor);
      RecentPairs recent(capacity);
      RecentOracle oracle(capacity);
      const std::uint64_t different = factor * capacity + 2;
      std::set<ReasonCode> found;
      for (int step = 0; step < 4000; ++step) {
        const PairKey key = random_key(random, different);
        found.insert(recent.find(key));
        REQUIRE(recent.find(key) == oracle.find(key));
        recent.add(key);
        oracle.add(key);
        const PairKey other = random_key(random, different);
        REQUIRE(recent.find(other) == oracle.find(other));
        if (step % 100 == 0) REQUIRE(recent.keys() == oracle.keys());
      }
      CHECK(found.size() == (capacity == 0 ? 1 : 3));
      CHECK(recent.size() == oracle.keys().size());
      CHECK(recent.capacity() == capacity);
    }
  }
}

TEST_CASE("A pair that came is a duplicate, and one in another spelling nearly one") {
  RecentPairs recent(10);
  recent.add(text_key("Page 9", "Seite 9"));
  CHECK(recent.find(text_key("Page 9", "Seite 9")) == reasons::kDuplicate);
  CHECK(recent.find(text_key("page 10.", "SEITE 10")) == reasons::kNearDuplicate);
  CHECK(recent.find(text_key("Page 9", "Blatt 9")) == reasons::kNone);
  CHECK(recent.find(text_key("Seite 9", "Page 9")) == reasons::kNone);
  // The spelling that came first is the one remembered.
  recent.add(text_key("page 10.", "SEITE 10"));
  CHECK(recent.find(text_key("page 10.", "SEITE 10")) == reasons::kNearDuplicate);
  CHECK(recent.size() == 1);
}

TEST_CASE("Vectors in writing are nearly the same as no others") {
  RecentPairs recent(10);
  recent.add(text_key("0.25 -1.5e-05 3", "[1, 2.5, 7]"));
  CHECK(recent.find(text_key("0.25 -1.5e-05 3", "[1, 2.5, 7]")) == reasons::kDuplicate);
  CHECK(recent.find(text_key("0.25 -1.5e-05 4", "[1, 2.5, 7]")) == reasons::kNone);
  CHECK(recent.find(text_key("0.25 -1.5e-05 3", "[1, 2.5, 8]")) == reasons::kNone);
  CHECK(recent.find(text_key("0.25 -1.5e-05 3", "[1, 2.5,  7]")) == reasons::kNone);
}

TEST_CASE("A text is mostly digits if those are as many as the bytes of its letters, or more") {
  // Whether another number in its place makes a text that is nearly the same, in x and in y.
  const auto ignores_numbers = [](const std::string& before, const std::string& one,
                                  const std::string& other, const std::string& after) {
    const auto first = before + one + after;
    const auto second = before + other + after;
    const bool in_x = text_key(first, "a").near == text_key(second, "a").near;
    const bool in_y = text_key("a", first).near == text_key("a", second).near;
    CHECK(in_x == in_y);
    return in_x;
  };
  CHECK(ignores_numbers("", "3", "4", " kg"));
  CHECK_FALSE(ignores_numbers("", "12", "13", " kg"));
  CHECK(ignores_numbers("", "999", "1", " days"));
  CHECK_FALSE(ignores_numbers("", "1000", "1001", " days"));
  // Of two texts one of which is mostly digits neither is nearly the other.
  CHECK_FALSE(ignores_numbers("", "1000", "999", " days"));
  // Signs and spaces do not count, on either side of the bound.
  CHECK(ignores_numbers("[(*-*)]\t", "3", "4", " kg..."));
  CHECK_FALSE(ignores_numbers("[(*-*)]\t", "12", "13", " kg..."));
  // A letter of two bytes counts twice, a digit of two bytes once.
  CHECK(ignores_numbers("\u00E4 ", "1", "2", ""));
  CHECK_FALSE(ignores_numbers("\u00E4 ", "12", "13", ""));
  CHECK(ignores_numbers("\u00E4 ", "\u0661", "\u0662", ""));
  CHECK_FALSE(ignores_numbers("\u00E4 ", "\u0661\u0661", "\u0661\u0662", ""));
  // Both at once: every number of digits beside every number of letters.
  for (std::size_t digits = 1; digits < 12; ++digits) {
    for (std::size_t letters = 0; letters < 12; ++letters) {
      CAPTURE(digits, letters);
      CHECK(ignores_numbers(std::string(letters, 'x') + ' ', std::string(digits, '1'),
                            std::string(digits, '2'), "") == (digits < letters));
    }
  }
}

TEST_CASE("What another text leaves is never a text that is mostly digits") {
  for (const auto& [digits, others] : std::vector<std::array<std::string, 2>>{
           {"0", "\u0661"}, {"0", "?0"}, {"a0", "a 0"}, {"a0", "A9"}, {"0a0", "1a\u0662"}}) {
    CAPTURE(digits, others);
    CHECK(text_key(digits, "").near != text_key(others, "").near);
  }
}

TEST_CASE("A duplicate keeps no pair from being forgotten") {
  RecentPairs recent(3);
  for (const std::uint64_t key : {1, 2, 3, 1, 1, 4}) recent.add({key, key});
  CHECK(recent.find({1, 1}) == reasons::kNone);
  CHECK(recent.keys() == std::vector<PairKey>{{2, 2}, {3, 3}, {4, 4}});
}

TEST_CASE("A window of no pairs remembers nothing, and one too large is refused") {
  RecentPairs recent(0);
  recent.add({1, 2});
  CHECK(recent.find({1, 2}) == reasons::kNone);
  CHECK(recent.size() == 0);
  CHECK_THROWS_WITH(RecentPairs(RecentPairs::kMaxCapacity + 1),
                    Catch::Contains("found a window of 67108865, expected at most 67108864"));
}

TEST_CASE("Keys tell apart what stands in x and what in y") {
  const std::vector<std::array<std::string, 2>> pairs{
      {"ab", "c"}, {"a", "bc"}, {"abc", ""}, {"", "abc"}, {"c", "ab"}, {"", ""},
      {"?!", ""},  {"", "?!"},  {"...", ""}, {"0", ""},   {"", "0"},   {std::string(1, '\0'), ""}};
  std::set<std::uint64_t> exact;
  std::set<std::uint64_t> near;
  for (const auto& [x, y] : pairs) {
    exact.insert(text_key(x, y).exact);
    near.insert(text_key(x, y).near);
  }
  CHECK(exact.size() == pairs.size());
  CHECK(near.size() == pairs.size());
}

TEST_CASE("Keys are the same on every machine, and whatever the scratch held before") {
  std::string scratch = "something that was there before";
  const PairKey key = key_of("Hello, World!", "Hallo, Welt!", scratch);
  CHECK(key == key_of("Hello, World!", "Hallo, Welt!", scratch));
  CHECK(key == PairKey{0xc3dccfbfc4602acb, 0x9bfe9b63da68d29b});
  CHECK(key.near == text_key("hello world", "HALLO WELT").near);
  CHECK(key.exact != text_key("hello world", "HALLO WELT").exact);
}

TEST_CASE("Keys of vectors tell numbers, order and lengths, and are none of texts") {
  const std::vector<float> ab{1, 2};
  const std::vector<float> c{3};
  const std::vector<float> a{1};
  const std::vector<float> bc{2, 3};
  const PairKey key = key_of(ab, c);
  CHECK(key.exact == key.near);
  CHECK(key == key_of(std::vector<float>{1, 2}, c));
  CHECK(key != key_of(a, bc));
  CHECK(key != key_of(c, ab));
  CHECK(key != key_of(ab, std::vector<float>{3.0000002F}));
  const std::string_view bytes(reinterpret_cast<const char*>(ab.data()), 2 * sizeof(float));
  const PairKey as_text = text_key(bytes, bytes);
  CHECK(as_text.exact != key_of(ab, ab).exact);
  CHECK(as_text.near != key_of(ab, ab).near);
  CHECK(text_key("", "") != key_of(std::span<const float>(), std::span<const float>()));
}

TEST_CASE("A window of pairs that was saved goes on as if it had not been") {
  for (const std::size_t pairs : {0, 1, 5, 99, 100, 101, 250, 1000}) {
    CAPTURE(pairs);
    Random random(pairs);
    RecentPairs recent(100);
    for (std::size_t i = 0; i < pairs; ++i) recent.add(random_key(random, 300));
    RecentPairs again(100);
    // What was there gives way.
    again.add({1, 1});
    load_pairs(again, saved_pairs(recent));
    REQUIRE(saved_pairs(again) == saved_pairs(recent));
    for (int i = 0; i < 1000; ++i) {
      const PairKey key = random_key(random, 300);
      REQUIRE(again.find(key) == recent.find(key));
      recent.add(key);
      again.add(key);
    }
    CHECK(again.keys() == recent.keys());
  }
}

TEST_CASE("A smaller window keeps the newest pairs, a larger one all") {
  const RecentPairs recent = filled(100, 0, 150);
  for (const std::size_t capacity : {0, 1, 30, 100, 1000}) {
    CAPTURE(capacity);
    RecentPairs other(capacity);
    load_pairs(other, saved_pairs(recent));
    const std::size_t kept = std::min<std::size_t>(capacity, 100);
    CHECK(other.capacity() == capacity);
    CHECK(other.keys() == filled(1000, 150 - kept, 150).keys());
    // It goes on as one of its own size.
    RecentOracle oracle(capacity);
    for (const PairKey& key : other.keys()) oracle.add(key);
    for (std::uint64_t i = 100; i < 300; ++i) {
      REQUIRE(other.find({i, i}) == oracle.find({i, i}));
      other.add({i, i});
      oracle.add({i, i});
    }
    CHECK(other.keys() == oracle.keys());
  }
}

TEST_CASE("Merged windows hold the one's pairs, then the other's that are new") {
  for (const std::size_t capacity : {0, 5, 12, 100}) {
    CAPTURE(capacity);
    RecentPairs one = filled(capacity, 0, 10);
    const RecentPairs other = filled(100, 5, 15);
    RecentOracle oracle(capacity);
    for (const PairKey& key : one.keys()) oracle.add(key);
    for (const PairKey& key : other.keys()) oracle.add(key);
    one.merge(other);
    CHECK(one.keys() == oracle.keys());
    const auto before = one.keys();
    one.merge(one);
    CHECK(one.keys() == before);
  }
}

TEST_CASE("A saved window of pairs that makes no sense is refused, and changes nothing") {
  RecentPairs recent = filled(4, 1, 2);
  const auto before = recent.keys();
  const auto refused = [&](const std::string& bytes, const char* why) {
    CHECK_THROWS_WITH(load_pairs(recent, bytes), Catch::Contains(why));
    CHECK(recent.keys() == before);
  };
  refused(pair_bytes({1, 2, 3, 4, 5, 2}), "found the pair at 2 twice");
  refused(pair_bytes({1, 2, 3}), "found 3 fingerprints");
  // Even among those that would not fit.
  refused(pair_bytes({1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}), "found the pair at 1 twice");
  refused(pair_bytes({7, 7, 2, 2, 3, 3, 4, 4, 5, 5, 7, 7}), "found the pair at 5 twice");
  Writer huge;
  huge.number<std::uint64_t>(1ULL << 60);
  refused(huge.bytes(), "found a count of");
}

TEST_CASE("A saved window of pairs, cut or changed anywhere, is refused or another window") {
  const std::string bytes = saved_pairs(filled(20, 0, 20));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    RecentPairs recent(20);
    REQUIRE_THROWS_AS(load_pairs(recent, bytes.substr(0, size)), Error);
  }
  int accepted = 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string bent = bytes;
    bent[bit / 8] = static_cast<char>(bent[bit / 8] ^ (1 << (bit % 8)));
    RecentPairs recent(20);
    try {
      load_pairs(recent, bent);
    } catch (const Error&) {
      continue;
    }
    ++accepted;
    REQUIRE(saved_pairs(recent) == bent);
    for (const PairKey& key : recent.keys()) REQUIRE(recent.find(key) == reasons::kDuplicate);
  }
  CHECK(accepted > 0);
}

}  // namespace
}  // namespace phsic::test
