#include "state/entry.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/random.h"

namespace phsic::test {
namespace {

EntryPairs some_texts() {
  EntryPairs pairs;
  pairs.add("how are you", "fine", 1e9, hash_id("a"));
  pairs.add("", "", 1e9, kNoId, {1, 1});
  pairs.reject({1, 2});
  pairs.reject({1, 200});
  pairs.add(std::string("nul\0byte", 8), "день", -3.5, hash_id("b"), {2, 5});
  pairs.reject({1, 3});
  return pairs;
}

EntryPairs some_vectors() {
  EntryPairs pairs;
  const std::vector<float> x = {1, -2.5F, 3e-20F};
  const std::vector<float> y = {0.5F, 7};
  pairs.add(x, y, 12, kNoId);
  pairs.add(x, y, 13, kNoId);
  return pairs;
}

std::vector<Entry> entries_of_each_kind() {
  std::vector<Entry> entries(7);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].place = {static_cast<std::uint32_t>(7 + i), 1000 + i, std::uint64_t{1} << 40U};
    entries[i].kind = static_cast<EntryKind>(i);
  }
  entries[0].pairs = some_texts();
  entries[1].pairs = some_vectors();
  entries[2].extent = PairExtent::kAll;
  entries[3].adoption = std::string("any\0bytes", 9);
  entries[5].every = 512;
  entries[6].cut = std::string("a\0note", 6);
  return entries;
}

TEST_CASE("Every code of a reason comes back from the journal as it was") {
  Entry entry;
  for (int code = 0; code < 256; ++code) {
    const DecisionCode decision{1, static_cast<std::uint8_t>(code)};
    entry.pairs.add("x", "y", 1, kNoId, decision);
    entry.pairs.reject(decision);
  }
  const auto again = parse<Entry>(serialise(entry)).pairs;
  REQUIRE(again.decisions().size() == 256);
  REQUIRE(again.rejected().size() == 256);
  for (std::size_t code = 0; code < 256; ++code) {
    CHECK(again.decisions()[code].reason == code);
    CHECK(again.rejected()[code].decision.reason == code);
  }
}

TEST_CASE("An entry of each kind comes back as it was") {
  for (const auto& entry : entries_of_each_kind()) {
    const auto bytes = serialise(entry);
    const auto again = parse<Entry>(bytes);
    CHECK(again.place == entry.place);
    CHECK(again.kind == entry.kind);
    CHECK(again.extent == entry.extent);
    CHECK(again.adoption == entry.adoption);
    CHECK(again.every == entry.every);
    CHECK(again.cut == entry.cut);
    CHECK(serialise(again) == bytes);
  }
  const auto texts = parse<Entry>(serialise(entries_of_each_kind()[0])).pairs;
  REQUIRE(texts.size() == 3);
  CHECK_FALSE(texts.are_vectors());
  CHECK(texts.x(0) == "how are you");
  CHECK(texts.y(0) == "fine");
  CHECK(texts.x(1).empty());
  CHECK(texts.x(2) == std::string_view("nul\0byte", 8));
  CHECK(texts.y(2) == "день");
  CHECK(texts.times()[2] == -3.5);
  CHECK(texts.ids()[0] == hash_id("a"));
  CHECK(texts.ids()[1] == kNoId);
  using Codes = std::vector<DecisionCode>;
  CHECK(Codes(texts.decisions().begin(), texts.decisions().end()) == Codes{{0, 0}, {1, 1}, {2, 5}});
  using Rejected = std::vector<EntryPairs::Rejected>;
  CHECK(Rejected(texts.rejected().begin(), texts.rejected().end()) ==
        Rejected{{2, {1, 2}}, {2, {1, 200}}, {3, {1, 3}}});
  const auto vectors = parse<Entry>(serialise(entries_of_each_kind()[1])).pairs;
  REQUIRE(vectors.size() == 2);
  CHECK(vectors.are_vectors());
  CHECK(vectors.x_dim() == 3);
  CHECK(vectors.y_dim() == 2);
  CHECK(vectors.x_values() == some_vectors().x_values());
  CHECK(vectors.y_values() == some_vectors().y_values());
}

TEST_CASE("Pairs are sealed as the entry of them is") {
  for (const auto& entry : entries_of_each_kind()) {
    if (entry.pairs.size() > 0) CHECK(seal_pairs(entry.place, entry.pairs) == serialise(entry));
  }
}

TEST_CASE("What was gathered is gone when it is cleared, and the memory is used again") {
  EntryPairs pairs = some_texts();
  pairs.clear();
  CHECK(pairs.size() == 0);
  CHECK(pairs.takes(true));
  const std::vector<float> x = {1, 2};
  pairs.add(x, x, 1, kNoId);
  CHECK(pairs.are_vectors());
  CHECK(pairs.takes(true));
  CHECK_FALSE(pairs.takes(false));
  pairs.clear();
  pairs.add("x", "y", 1, kNoId);
  CHECK_FALSE(pairs.are_vectors());
  CHECK(parse<Entry>(seal_pairs({1, 1, 0}, pairs)).pairs.x(0) == "x");
}

TEST_CASE("An entry takes no more than it should, and always one") {
  EntryPairs pairs;
  const std::string large(3U << 20U, 'x');
  CHECK(pairs.takes(false));
  pairs.add(large, large, 0, kNoId);
  CHECK_FALSE(pairs.takes(false));
  pairs.clear();
  std::size_t count = 0;
  for (; pairs.takes(false); ++count) pairs.add("a", "b", 0, kNoId);
  CHECK(count == 16384);
}

TEST_CASE("An entry may have nothing but rejected pairs, and not too many") {
  EntryPairs pairs;
  std::size_t count = 0;
  for (; pairs.takes(true) && pairs.takes(false); ++count) pairs.reject({1, 16});
  CHECK(count == 16384);
  CHECK_FALSE(pairs.is_empty());
  const auto again = parse<Entry>(seal_pairs({1, 1, 0}, pairs)).pairs;
  CHECK(again.size() == 0);
  CHECK(again.rejected().size() == count);
  pairs.clear();
  CHECK(pairs.is_empty());
  CHECK_THROWS_AS(parse<Entry>(seal_pairs({1, 1, 0}, pairs)), Error);
}

TEST_CASE("Decisions that cannot be are refused") {
  EntryPairs pairs;
  pairs.add("x", "y", 1, kNoId, {3, 0});
  CHECK_THROWS_AS(parse<Entry>(seal_pairs({1, 1, 0}, pairs)), Error);
  pairs.clear();
  pairs.reject({255, 1});
  CHECK_THROWS_AS(parse<Entry>(seal_pairs({1, 1, 0}, pairs)), Error);
}

TEST_CASE("An entry that stands in another place is told apart") {
  const auto entry = entries_of_each_kind()[4];
  CHECK(parse_entry(serialise(entry), entry.place).kind == EntryKind::kAbandon);
  for (const auto& other : {EntryPlace{1, entry.place.number, entry.place.pairs},
                            EntryPlace{entry.place.stream, 1, entry.place.pairs},
                            EntryPlace{entry.place.stream, entry.place.number, 1}}) {
    CHECK_THROWS_AS(parse_entry(serialise(entry), other), Error);
  }
}

TEST_CASE("Every flipped bit and every missing byte of an entry is found") {
  for (const auto& entry : entries_of_each_kind()) {
    const auto bytes = serialise(entry);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      auto damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      REQUIRE_THROWS_AS(parse<Entry>(damaged), Error);
      REQUIRE_THROWS_AS(parse<Entry>(std::string_view(bytes).substr(0, i)), Error);
    }
  }
}

// With a checksum that fits, so that it reaches the parser.
TEST_CASE("No payload however made is more than refused") {
  Random random(3);
  for (const auto& entry : entries_of_each_kind()) {
    Writer writer;
    entry.save(writer);
    const auto& payload = writer.bytes();
    for (std::size_t i = 0; i < payload.size(); ++i) {
      REQUIRE_THROWS_AS(parse<Entry>(seal("ENTR", payload.substr(0, i))), Error);
    }
    REQUIRE_THROWS_AS(parse<Entry>(seal("ENTR", payload + "x")), Error);
    for (int round = 0; round < 2000; ++round) {
      auto changed = payload;
      for (std::uint64_t k = 0; k <= random.below(3); ++k) {
        changed[random.below(changed.size())] = static_cast<char>(random.below(256));
      }
      const auto sealed = seal("ENTR", changed);
      try {
        // What is taken is written back as it was read, but for ids where there were none.
        const auto taken = parse<Entry>(sealed);
        for (std::size_t i = 0; !taken.pairs.are_vectors() && i < taken.pairs.size(); ++i) {
          static_cast<void>(taken.pairs.x(i).size() + taken.pairs.y(i).size());
        }
        const auto written = serialise(taken);
        CHECK(serialise(parse<Entry>(written)) == written);
        const auto& ids = taken.pairs.ids();
        const bool has_ids =
            std::any_of(ids.begin(), ids.end(), [](const IdHash& id) { return id != kNoId; });
        const bool left_ids_out =
            !has_ids && written.size() + sizeof(IdHash) * ids.size() == sealed.size();
        CHECK((written == sealed || left_ids_out));
      } catch (const Error&) {
      }
    }
  }
}

TEST_CASE("Times, dimensions and ends that make no sense are refused") {
  const auto refused = [](auto&& write) {
    Writer writer;
    writer.number<std::uint32_t>(1);
    writer.number<std::uint64_t>(1);
    writer.number<std::uint64_t>(0);
    write(writer);
    CHECK_THROWS_AS(parse<Entry>(seal("ENTR", writer.bytes())), Error);
  };
  // Too many of a dimension that overflows what they take.
  refused([](Writer& writer) {
    writer.number(EntryKind::kVectors);
    writer.array(std::vector<double>(2, 0));
    writer.number<std::uint8_t>(0);
    writer.number<std::uint32_t>(UINT32_MAX);
    writer.number<std::uint32_t>(1);
    writer.array(std::vector<float>(2));
    writer.array(std::vector<float>(2));
  });
  refused([](Writer& writer) {
    writer.number(EntryKind::kTexts);
    writer.array(std::vector<double>{});
    writer.number<std::uint8_t>(0);
    writer.array(std::vector<std::uint64_t>{});
    writer.text("");
  });
  refused([](Writer& writer) {
    writer.number(EntryKind::kTexts);
    writer.array(std::vector<double>{1e16});
    writer.number<std::uint8_t>(0);
    writer.array(std::vector<std::uint64_t>{0, 0});
    writer.text("");
  });
  refused([](Writer& writer) {
    writer.number(EntryKind::kTexts);
    writer.array(std::vector<double>{1});
    writer.number<std::uint8_t>(0);
    writer.array(std::vector<std::uint64_t>{2, 1});
    writer.text("a");
  });
}

}  // namespace
}  // namespace phsic::test
