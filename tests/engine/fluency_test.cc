#include "engine/fluency.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"

namespace phsic::test {
namespace {

using Words = std::vector<std::uint64_t>;

// The formula by maps, without places that are shared.
class FluencyOracle {
 public:
  void learn(const Words& words, double weight = 1) {
    std::uint64_t previous = kMarker;
    for (const auto word : words) {
      words_[word] += weight;
      pairs_[{previous, word}] += weight;
      total_ += weight;
      previous = word;
    }
    if (!words.empty()) words_[kMarker] += weight;
  }
  void fade(double factor) {
    for (auto& [word, count] : words_) count *= factor;
    for (auto& [pair, count] : pairs_) count *= factor;
    total_ *= factor;
  }
  [[nodiscard]] Fluency::Reading read(const Words& words) const {
    std::vector<double> values;
    std::uint64_t previous = kMarker;
    for (const auto word : words) {
      const double a = at(words_, previous);
      const double b = at(words_, word);
      const double both = at(pairs_, std::pair(previous, word));
      values.push_back(a > 0 && b > 0 ? std::log(0.8 * both * total_ / (a * b) + 0.2) : 0);
      previous = word;
    }
    if (values.empty()) return {};
    Fluency::Reading reading;
    reading.last = values.back();
    for (const double value : values) reading.mean += value / static_cast<double>(values.size());
    std::sort(values.begin(), values.end());
    const auto third = std::max<std::size_t>(1, values.size() / 3);
    for (std::size_t i = 0; i < third; ++i) {
      reading.lowest_third += values[i] / static_cast<double>(third);
    }
    reading.minimum = values.front();
    return reading;
  }

 private:
  static constexpr std::uint64_t kMarker = 0;  // no word of the tests

  template <class Map>
  static double at(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
  }

  std::map<std::uint64_t, double> words_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, double> pairs_;
  double total_ = 0;
};

// Of `vocabulary` words, the first ones more often, up to `longest` of them.
Words random_words(Random& random, std::uint64_t vocabulary, std::uint64_t longest) {
  Words words(random.below(longest + 1));
  for (auto& word : words) word = scatter(1 + random.below(1 + random.below(vocabulary)));
  return words;
}

Fluency::Reading read(const Fluency& fluency, const Words& words, double own_times = 0) {
  Fluency::Scratch scratch;
  return fluency.read(words, scratch, own_times);
}

void check_same(const Fluency::Reading& a, const Fluency::Reading& b, double margin) {
  CHECK(a.mean == Approx(b.mean).margin(margin));
  CHECK(a.lowest_third == Approx(b.lowest_third).margin(margin));
  CHECK(a.minimum == Approx(b.minimum).margin(margin));
  CHECK(a.last == Approx(b.last).margin(margin));
}

std::string payload_of(const Fluency& fluency) {
  Writer writer;
  fluency.save(writer);
  return writer.bytes();
}

Fluency load_payload(const std::string& bytes) {
  Reader reader(bytes);
  Fluency fluency = Fluency::load(reader);
  reader.finish();
  return fluency;
}

TEST_CASE("Fluency reads what brute force reads while few words share a place") {
  Random random(1);
  // Of 40 words hardly two neighbours share one of 2^19 places, and no two words one of 2^16.
  for (const std::uint64_t vocabulary : {2, 10, 40}) {
    Fluency fluency;
    FluencyOracle oracle;
    for (int i = 0; i < 300; ++i) {
      const auto words = random_words(random, vocabulary, 12);
      fluency.learn(words);
      oracle.learn(words);
      const auto asked = random_words(random, vocabulary + 3, 12);
      check_same(read(fluency, asked), oracle.read(asked), 1e-9);
    }
  }
}

TEST_CASE("Fluency that fades reads what brute force reads, over many rescalings") {
  Random random(2);
  for (const double half_life : {3.0, 10.0, 50.0}) {
    Fluency fluency(half_life);
    FluencyOracle oracle;
    for (int i = 0; i < 400; ++i) {
      const auto words = random_words(random, 8, 12);
      fluency.learn(words);
      oracle.fade(std::exp2(-1 / half_life));
      oracle.learn(words);
      const auto asked = random_words(random, 8, 12);
      check_same(read(fluency, asked), oracle.read(asked), 1e-5);
    }
  }
}

TEST_CASE("Counts weigh half after as many texts as the half-life, and are forgotten in the end") {
  constexpr int kHalfLife = 20;
  Fluency fluency(kHalfLife);
  fluency.learn(Words{1, 2, 3, 4});
  CHECK(fluency.words() == Approx(4));
  for (int i = 0; i < kHalfLife; ++i) fluency.learn({});
  CHECK(fluency.words() == Approx(2));
  for (int i = 0; i < 100 * kHalfLife; ++i) fluency.learn({});
  CHECK(fluency.words() < 1e-20);
  CHECK(read(fluency, {1, 2, 3, 4}) == Fluency::Reading{});
  CHECK(payload_of(fluency).size() == payload_of(Fluency()).size());
}

TEST_CASE("What a stream no longer says stops being fluent") {
  Fluency fluency(10);
  for (int i = 0; i < 200; ++i) fluency.learn(Words{1, 2, 3});
  for (int i = 0; i < 200; ++i) fluency.learn(Words{2, 1, 4});
  CHECK(read(fluency, {2, 1}).mean > 0.5);
  CHECK(read(fluency, {1, 2}).mean < -0.5);
}

TEST_CASE("Texts in their usual order are more fluent than in another, or cut") {
  Fluency fluency;
  Random random(3);
  // Sentences of 5 words, each followed by one of two.
  const auto sentence = [&] {
    Words words{100};
    while (words.size() < 5) words.push_back((words.back() * 2 + random.below(2)) % 1000);
    return words;
  };
  for (int i = 0; i < 2000; ++i) fluency.learn(sentence());
  for (int i = 0; i < 50; ++i) {
    const auto words = sentence();
    const auto whole = read(fluency, words);
    Words reversed(words.rbegin(), words.rend());
    Words headless(words.begin() + 1, words.end());
    CHECK(whole.mean > read(fluency, reversed).mean);
    CHECK(whole.minimum > read(fluency, headless).minimum);
    CHECK((whole.minimum <= whole.lowest_third && whole.lowest_third <= whole.mean));
  }
}

TEST_CASE("Nothing that was never seen is held against a text") {
  Fluency fluency;
  CHECK(read(fluency, {}) == Fluency::Reading{});
  CHECK(read(fluency, {1, 2, 3}) == Fluency::Reading{});
  fluency.learn(Words{1, 2, 3});
  CHECK(read(fluency, {}) == Fluency::Reading{});
  CHECK(read(fluency, {7, 8, 9}) == Fluency::Reading{});
  // Both are known, and never came in this order.
  CHECK(read(fluency, {3, 1}).minimum == Approx(std::log(0.2)));
}

TEST_CASE("Without its own part a text reads as if it had not been learned") {
  Random random(4);
  Fluency without;
  for (int i = 0; i < 100; ++i) without.learn(random_words(random, 15, 12));
  for (int i = 0; i < 50; ++i) {
    const auto own = random_words(random, 25, 30);
    Fluency with = without;
    const auto times = 1 + random.below(4);
    for (std::uint64_t k = 0; k < times; ++k) with.learn(own);
    check_same(read(with, own, static_cast<double>(times)), read(without, own), 1e-12);
    // More than it has taught takes away no more than all.
    CHECK(read(with, own, 1e9) == Fluency::Reading{});
  }
  // With fading, the newest text weighs 1.
  Fluency alone(5);
  alone.learn(Words{1, 2});
  CHECK(read(alone, {1, 2}).mean > 0);
  CHECK(read(alone, {1, 2}, 1) == Fluency::Reading{});
}

TEST_CASE("Merged fluency is what would have been learned together") {
  Random random(5);
  Fluency a;
  Fluency b;
  Fluency all;
  for (int i = 0; i < 200; ++i) {
    const auto words = random_words(random, 5000, 20);
    (i % 3 == 0 ? a : b).learn(words);
    all.learn(words);
  }
  a.merge(b);
  CHECK(a == all);
  CHECK_THROWS_AS(a.merge(Fluency(7)), Error);
}

TEST_CASE("Merged fluency weighs counts as of now, however large increments have become") {
  Fluency old(10);
  for (int i = 0; i < 100; ++i) old.learn(Words{1, 2});
  Fluency young(10);
  young.learn(Words{3, 4, 5});
  const double before = old.words();
  Fluency merged = old;
  merged.merge(young);
  CHECK(merged.words() == Approx(before + 3));
  Fluency reversed = young;
  reversed.merge(old);
  CHECK(reversed.words() == Approx(before + 3));
  check_same(read(merged, {1, 2, 3, 4}), read(reversed, {1, 2, 3, 4}), 1e-5);
}

TEST_CASE("A word that comes ever again is counted on, by halving all counts") {
  Fluency fluency;
  const Words many(Fluency::kMostWords, 1);
  const auto rounds = (std::size_t{3} << 23U) / Fluency::kMostWords;
  for (std::size_t i = 0; i < rounds; ++i) {
    fluency.learn(many);
    if (i % 3 == 0) fluency.learn(Words{2, 3});
  }
  CHECK(fluency.words() < 0x1p23 * 1.01);
  const auto reading = read(fluency, {1, 1, 1});
  CHECK(reading.last == Approx(0).margin(0.01));
  CHECK(read(fluency, {2, 3}).last > 5);
  CHECK(load_payload(payload_of(fluency)) == fluency);
  fluency.merge(Fluency(fluency));
  CHECK(fluency.words() < 0x1p24);
  CHECK(load_payload(payload_of(fluency)) == fluency);
}

TEST_CASE("Of a long text fluency looks at the first words alone") {
  Words words(Fluency::kMostWords + 100, 1);
  std::fill(words.begin() + Fluency::kMostWords, words.end(), 2);
  Fluency whole;
  whole.learn(words);
  Fluency cut;
  cut.learn(std::span(words).first(Fluency::kMostWords));
  CHECK(whole == cut);
  whole.learn(Words{2});
  CHECK(read(whole, words) ==
        read(whole, Words(words.begin(), words.begin() + Fluency::kMostWords)));
}

TEST_CASE("Fluency is finite and keeps its memory, with every place in use") {
  Random random(6);
  Fluency fluency(1000);
  CHECK(Fluency::memory_bytes() == ((std::size_t{1} << 16U) + (std::size_t{1} << 19U)) * 4);
  Words words(1000);
  for (int i = 0; i < 2000; ++i) {
    for (auto& word : words) word = random.bits();
    fluency.learn(words);
    if (i % 100 != 0) continue;
    for (const double own_times : {0.0, 1.0, 1e300}) {
      const auto reading = read(fluency, words, own_times);
      for (const double value :
           {reading.mean, reading.lowest_third, reading.minimum, reading.last}) {
        CHECK(std::isfinite(value));
      }
    }
  }
  // No more than five bytes for a count in a crowd.
  CHECK(payload_of(fluency).size() <= 5 * Fluency::memory_bytes() / 4 + 40);
  CHECK(load_payload(payload_of(fluency)) == fluency);
}

TEST_CASE("Saved fluency goes on as the one that was saved, and is small while there is little") {
  Random random(7);
  for (const double half_life : {0.0, 4.0}) {
    Fluency fluency(half_life);
    CHECK(payload_of(fluency).size() <= 40);
    CHECK(load_payload(payload_of(fluency)) == fluency);
    for (int i = 0; i < 300; ++i) fluency.learn(random_words(random, 300, 20));
    auto loaded = parse<Fluency>(serialise(fluency));
    CHECK(loaded == fluency);
    for (int i = 0; i < 200; ++i) {
      const auto words = random_words(random, 400, 20);
      fluency.learn(words);
      loaded.learn(words);
    }
    CHECK(loaded == fluency);
    CHECK(payload_of(loaded) == payload_of(fluency));
  }
}

TEST_CASE("Damaged fluency is refused, or is what its bytes say") {
  Random random(8);
  Fluency fluency(30);
  for (int i = 0; i < 12; ++i) fluency.learn(random_words(random, 30, 6));
  const auto sealed = serialise(fluency);
  const auto payload = payload_of(fluency);
  const Words asked = random_words(random, 30, 40);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < payload.size(); ++at) {
    const char flip = "\x01\x10\x80\xFF"[at % 4];
    auto damaged = payload;
    damaged[at] = static_cast<char>(damaged[at] ^ flip);
    try {
      auto loaded = load_payload(damaged);
      CHECK(payload_of(loaded) == damaged);
      CHECK(std::isfinite(read(loaded, asked, 1).mean));
      loaded.learn(asked);
      CHECK(std::isfinite(read(loaded, asked).mean));
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > payload.size() / 8);
  for (std::size_t size = 0; size < payload.size(); ++size) {
    CHECK_THROWS_AS(load_payload(payload.substr(0, size)), Error);
  }
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    auto damaged = sealed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    CHECK_THROWS_AS(parse<Fluency>(damaged), Error);
  }
}

TEST_CASE("Fluency refuses counts and places that it cannot have written") {
  // One count of a word and none of neighbours.
  const auto load_with = [](double half_life, double increment, double words, double texts,
                            const std::string& gap, float count) {
    Writer writer;
    for (const double value : {half_life, increment, words, texts}) writer.number(value);
    writer.number<std::uint32_t>(1);
    for (const char byte : gap) writer.number(byte);
    writer.number(count);
    writer.number<std::uint32_t>(0);
    return load_payload(writer.bytes());
  };
  CHECK_NOTHROW(load_with(0, 1, 1, 1, "\x05", 1));
  CHECK_NOTHROW(load_with(0, 1, 1, 1, "\xFF\xFF\x03", 1));           // the last place
  CHECK_THROWS_AS(load_with(0, 1, 1, 1, "\x80\x80\x04", 1), Error);  // the one after it
  CHECK_THROWS_AS(load_with(0, 1, 1, 1, "\xFF\xFF\xFF\x01", 1), Error);
  CHECK_THROWS_AS(load_with(0, 1, 1, 1, std::string("\x85\x00", 2), 1), Error);  // too many bytes
  CHECK_THROWS_AS(load_with(-1, 1, 1, 1, "\x05", 1), Error);
  CHECK_THROWS_AS(load_with(0, 0.5, 1, 1, "\x05", 1), Error);
  CHECK_THROWS_AS(load_with(0, 1e300, 1, 1, "\x05", 1), Error);
  CHECK_THROWS_AS(load_with(0, 1, -1, 0, "\x05", 1), Error);
  CHECK_THROWS_AS(load_with(0, 1, 1, 2, "\x05", 1), Error);
  for (const float count : {0.0F, -0.0F, -1.0F, 1e30F, INFINITY, NAN}) {
    CHECK_THROWS_AS(load_with(0, 1, 1, 1, "\x05", count), Error);
  }
}

TEST_CASE("Any half-life that is a number of pairs is taken, and no other") {
  for (const double half_life : {-1.0, double(NAN), double(INFINITY)}) {
    CHECK_THROWS_AS(Fluency(half_life), Error);
  }
  for (const double half_life : {1e-300, 1e300}) {
    Fluency fluency(half_life);
    for (int i = 0; i < 100; ++i) fluency.learn(Words{1, 2, 3});
    CHECK(std::isfinite(read(fluency, {1, 2, 3}).mean));
    CHECK(load_payload(payload_of(fluency)) == fluency);
  }
}

}  // namespace
}  // namespace phsic::test
