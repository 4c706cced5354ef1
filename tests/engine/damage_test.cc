#include "engine/damage.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/spectrum.h"
#include "tests/text/random_texts.h"
#include "text/characters.h"
#include "text/text_units.h"

namespace phsic::test {
namespace {

struct OwnedPair {
  std::string x;
  std::string y;

  [[nodiscard]] TextPairView view() const { return {x, y}; }
};

OwnedPair random_pair(std::size_t sorts, Random& random) {
  const auto x = random_text(random.below(sorts), random);
  return {x, random_text(random.below(sorts), random)};
}

const DamageKind& kind_named(std::string_view name) {
  const auto kinds = damage_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const DamageKind& kind) { return kind.name == name; });
  REQUIRE(found != kinds.end());
  return *found;
}

std::optional<DamagedPair> damaged_by(std::string_view name, const OwnedPair& pair,
                                      const OwnedPair& other, std::uint64_t seed) {
  Random random(seed);
  DamagedPair out;
  if (!kind_named(name).damage(pair.view(), other.view(), random, out)) return std::nullopt;
  return out;
}

// The characters of a text but white space.
std::vector<std::int32_t> visible_characters(std::string_view text) {
  std::vector<std::int32_t> points;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = text::next_character(text, at);
    if (!text::is_white_space(point)) points.push_back(point);
  }
  return points;
}

std::vector<std::string> words_of(std::string_view text) {
  const text::TextUnits units(text);
  std::vector<std::string> words;
  for (const auto& unit : units.units()) words.emplace_back(unit.text);
  return words;
}

template <class T>
bool is_subsequence(const std::vector<T>& part, const std::vector<T>& whole) {
  auto next = part.begin();
  for (const auto& item : whole) {
    if (next != part.end() && *next == item) ++next;
  }
  return next == part.end();
}

// Calls check(sides of the damaged pair, of the pair, of the other) for random pairs that a kind
// damages. A kind of the left side has x for y.
template <class Check>
void for_each_damage(std::string_view name, std::size_t sorts, const Check& check) {
  const bool is_left = name.ends_with("(left)");
  const auto turned = [&](OwnedPair pair) {
    if (is_left) pair.x.swap(pair.y);
    return pair;
  };
  Random random(7);
  int count = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto pair = random_pair(sorts, random);
    const auto other = random_pair(sorts, random);
    const auto out = damaged_by(name, pair, other, seed);
    if (!out) continue;
    ++count;
    CAPTURE(name, seed, pair.x, pair.y, other.x, other.y, out->x, out->y);
    const auto result = turned({out->x, out->y});
    REQUIRE(result.x == turned(pair).x);
    check(result.y, turned(pair), turned(other));
  }
  CHECK(count > 500);
}

// Sorts of text whose words are always cut at white space.
constexpr std::size_t kSpacedSorts = 3;
constexpr std::size_t kUtf8Sorts = kTextSorts - 1;

TEST_CASE("There are eleven kinds of damage, each with a number and a name of its own") {
  const auto kinds = damage_kinds();
  REQUIRE(kinds.size() == 11);
  std::set<std::string_view> names;
  std::set<std::string_view> abouts;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(kinds[i].number == i);
    CHECK(kinds[i].number < 32);
    CHECK(!kinds[i].about.empty());
    names.insert(kinds[i].name);
    abouts.insert(kinds[i].about);
    CHECK(kinds[i].changes_words == (kinds[i].name != "mismatched"));
  }
  CHECK(names.size() == kinds.size());
  CHECK(abouts.size() == kinds.size());
}

TEST_CASE("Damage to any pair changes one side, is bounded, and is the same for the same seed") {
  Random random(1);
  for (std::uint64_t round = 0; round < 3000; ++round) {
    const auto pair = random_pair(kTextSorts, random);
    const auto other = round % 10 == 0 ? pair : random_pair(kTextSorts, random);
    const bool is_valid = is_utf8(pair.x + " " + pair.y + " " + other.x + " " + other.y);
    for (const auto& kind : damage_kinds()) {
      CAPTURE(kind.name, round, pair.x, pair.y, other.x, other.y);
      const auto out = damaged_by(kind.name, pair, other, round);
      const auto again = damaged_by(kind.name, pair, other, round);
      REQUIRE(out.has_value() == again.has_value());
      if (!out) continue;
      REQUIRE((out->x == again->x && out->y == again->y));
      const bool is_left = kind.name.ends_with("(left)");
      const auto& changed = is_left ? out->x : out->y;
      const auto& before = is_left ? pair.x : pair.y;
      REQUIRE((is_left ? out->y == pair.y : out->x == pair.x));
      REQUIRE(visible_characters(changed) != visible_characters(before));
      REQUIRE(!visible_characters(changed).empty());
      const auto longest = std::max({pair.x.size(), pair.y.size(), other.x.size(), other.y.size()});
      REQUIRE(changed.size() <= before.size() + longest + 1);
      if (is_valid) REQUIRE(is_utf8(changed));
    }
  }
}

TEST_CASE("Nothing is damaged where it would change nothing or nothing is left") {
  const OwnedPair other{"one two three four", "five six seven eight"};
  for (const auto& kind : damage_kinds()) {
    CAPTURE(kind.name);
    CHECK(!damaged_by(kind.name, {"", ""}, {"", ""}, 1));
    CHECK(!damaged_by(kind.name, {" ", "\n"}, {"\n", ""}, 1));
    if (kind.name != "mismatched") CHECK(!damaged_by(kind.name, {" ", " "}, other, 1));
  }
  CHECK(!damaged_by("mismatched", {"a", "b  c"}, {"d", "b c\n"}, 1));
  CHECK(!damaged_by("mismatched", other, {"one", " "}, 1));
  // The other pair belongs together.
  CHECK(!damaged_by("mismatched", {"a", "b"}, {"a", "c"}, 1));
  CHECK(!damaged_by("scrambled", {"a", "b b b b"}, other, 1));
  CHECK(!damaged_by("words_replaced", {"a", "b b b b"}, {"c", "b"}, 1));
  CHECK(!damaged_by("spliced(right)", other, {"a", other.y}, 1));
  CHECK(!damaged_by("glued", other, {"a", " "}, 1));
}

TEST_CASE("Texts of one word have only whole texts exchanged or put together") {
  const std::set<std::string_view> whole = {"mismatched", "repeated", "glued"};
  for (const auto& kind : damage_kinds()) {
    CAPTURE(kind.name);
    const auto out = damaged_by(kind.name, {"one", "two"}, {"three", "four"}, 1);
    CHECK(out.has_value() == whole.contains(kind.name));
  }
}

TEST_CASE("A mismatched pair has the other's y") {
  for_each_damage(
      "mismatched", kTextSorts,
      [](const auto& y, const auto& /*pair*/, const auto& other) { REQUIRE(y == other.y); });
}

TEST_CASE("A text that is cut off is the first 30 to 70 percent of its units") {
  for (const auto* name : {"cut_off(right)", "cut_off(left)"}) {
    for_each_damage(name, kTextSorts, [](const auto& y, const auto& pair, const auto& /*other*/) {
      const text::TextUnits units(pair.y);
      const auto all = static_cast<double>(units.size());
      bool is_found = false;
      for (std::size_t kept = 1; kept < units.size(); ++kept) {
        if (units.part(0, kept) != y) continue;
        is_found = true;
        REQUIRE(static_cast<double>(kept) >= std::min(0.3 * all - 0.5, 1.0));
        REQUIRE(static_cast<double>(kept) <= std::max(0.7 * all + 0.5, 1.0));
      }
      REQUIRE(is_found);
    });
  }
}

TEST_CASE("Every share between 30 and 70 percent is cut off") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + " ";
  std::set<std::size_t> kept;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    kept.insert(words_of(damaged_by("cut_off(right)", {"x", text}, {"", ""}, seed)->y).size());
  }
  CHECK(*kept.begin() == 30);
  CHECK(*kept.rbegin() == 70);
  CHECK(kept.size() == 41);
}

TEST_CASE("A spliced text begins as the pair's and ends as the other's") {
  for (const auto* name : {"spliced(right)", "spliced(left)"}) {
    for_each_damage(name, kUtf8Sorts, [](const auto& y, const auto& pair, const auto& other) {
      const text::TextUnits start(pair.y);
      const text::TextUnits end(other.y);
      bool is_found = false;
      for (std::size_t i = 1; i < start.size(); ++i) {
        for (std::size_t j = 1; j < end.size(); ++j) {
          const auto share_i = static_cast<double>(i) / static_cast<double>(start.size());
          const auto share_j = static_cast<double>(j) / static_cast<double>(end.size());
          const auto rounding = 1.0 / static_cast<double>(std::min(start.size(), end.size()));
          if (std::abs(share_i - share_j) > rounding) continue;
          is_found = is_found || std::string(start.part(0, i)) + std::string(start.joiner()) +
                                         std::string(end.part(j, end.size())) ==
                                     y;
        }
      }
      REQUIRE(is_found);
    });
  }
  const auto out = damaged_by("spliced(right)", {"x", "你好世界"}, {"z", "one two"}, 1);
  REQUIRE(out);
  CHECK(out->y.ends_with("two"));
}

TEST_CASE("A scrambled text is a permutation of its words") {
  for_each_damage("scrambled", kUtf8Sorts, [](const auto& y, const auto& pair, const auto&) {
    auto found = visible_characters(y);
    auto expected = visible_characters(pair.y);
    REQUIRE(found != expected);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    REQUIRE(found == expected);
  });
  for_each_damage("scrambled", kSpacedSorts, [](const auto& y, const auto& pair, const auto&) {
    auto found = words_of(y);
    auto expected = words_of(pair.y);
    // A long word is cut into characters.
    if (text::TextUnits(pair.y).joiner().empty()) return;
    REQUIRE(found != expected);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    REQUIRE(found == expected);
  });
  // Also where a shuffle leaves it as it was.
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CHECK(damaged_by("scrambled", {"x", "one two three"}, {"", ""}, seed));
  }
}

TEST_CASE("A text with words missing is a part of its words in order") {
  for_each_damage("words_missing", kUtf8Sorts, [](const auto& y, const auto& pair, const auto&) {
    REQUIRE(is_subsequence(visible_characters(y), visible_characters(pair.y)));
  });
  std::size_t kept = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const auto out = damaged_by("words_missing", {"x", "a b c d e f g h i j"}, {"", ""}, seed);
    REQUIRE(out);
    const auto words = words_of(out->y);
    REQUIRE(is_subsequence(words, words_of("a b c d e f g h i j")));
    REQUIRE(!words.empty());
    REQUIRE(words.size() < 10);
    kept += words.size();
  }
  CHECK(static_cast<double>(kept) / 3000 == Approx(7).margin(0.2));
}

TEST_CASE("Replaced words are the other's, and all others stay in their places") {
  int replaced = 0;
  int count = 0;
  for_each_damage("words_replaced", kSpacedSorts,
                  [&](const auto& y, const auto& pair, const auto& other) {
                    if (text::TextUnits(pair.y).joiner().empty()) return;
                    if (text::TextUnits(y).joiner().empty()) return;
                    const auto before = words_of(pair.y);
                    const auto after = words_of(y);
                    const auto lent = words_of(other.y);
                    REQUIRE(after.size() == before.size());
                    int changed = 0;
                    for (std::size_t i = 0; i < after.size(); ++i) {
                      if (after[i] == before[i]) continue;
                      ++changed;
                      REQUIRE(std::find(lent.begin(), lent.end(), after[i]) != lent.end());
                    }
                    REQUIRE(changed > 0);
                    if (before.size() < 6) return;
                    replaced += changed;
                    count += static_cast<int>(before.size());
                  });
  CHECK(replaced > count / 5);
  CHECK(replaced < 2 * count / 5);
}

TEST_CASE("One long word of the other text is not put in everywhere") {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "a ";
  const std::string long_word(500, 'b');
  std::string other = long_word;
  for (int i = 0; i < 50; ++i) other += " c";
  const auto out = damaged_by("words_replaced", {"x", many}, {"z", other}, 1);
  REQUIRE(out);
  CHECK(out->y.size() <= many.size() + other.size());
}

TEST_CASE("A repeated text says everything twice") {
  for_each_damage("repeated", kTextSorts, [](const auto& y, const auto& pair, const auto&) {
    REQUIRE(y == pair.y + std::string(text::TextUnits(pair.y).joiner()) + pair.y);
  });
}

TEST_CASE("A glued text begins as the pair's and ends with all of the other's") {
  for_each_damage("glued", kTextSorts, [](const auto& y, const auto& pair, const auto& other) {
    REQUIRE(y == pair.y + std::string(text::TextUnits(pair.y).joiner()) + other.y);
  });
}

TEST_CASE("A text that is copied in part ends as the other side does") {
  for_each_damage("copied_in_part", kTextSorts, [](const auto& y, const auto& pair, const auto&) {
    const text::TextUnits own(pair.y);
    const text::TextUnits copied(pair.x);
    REQUIRE(y.starts_with(own.part(0, own.size() / 2)));
    REQUIRE(y.ends_with(copied.part((copied.size() + 1) / 2, copied.size())));
  });
  CHECK(damaged_by("copied_in_part", {"a b c d", "e f g h"}, {"", ""}, 1)->y == "e f c d");
}

}  // namespace
}  // namespace phsic::test
