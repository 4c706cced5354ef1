#include "text/halves.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/spectrum.h"
#include "tests/text/random_texts.h"
#include "text/characters.h"

namespace phsic::tests {
namespace {

using Cut = std::pair<std::string, std::string>;

Cut halves(std::string_view text) {
  const auto found = text::halves_of(text);
  return {std::string(found.first), std::string(found.second)};
}

Cut uncut(const std::string& text) { return {text, text}; }

// A character of a text, found without what is tested.
struct Place {
  std::size_t begin;
  std::size_t end;
  std::int32_t point;
};

std::vector<Place> places_in(std::string_view text) {
  std::vector<Place> places;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    const auto point = text::next_character(text, at);
    places.push_back({begin, at, point});
  }
  return places;
}

bool is_space(const Place& place) { return text::is_white_space(place.point); }

// Brute force: all cuts, and the best of them.
Cut best_cut(std::string_view text) {
  const auto places = places_in(text);
  std::vector<Place> solid;
  for (const auto& place : places) {
    if (!is_space(place)) solid.push_back(place);
  }
  if (solid.empty()) return uncut(std::string(text));
  const auto begin = static_cast<double>(solid.front().begin);
  const auto end = static_cast<double>(solid.back().end);
  const auto middle = (begin + end) / 2;
  const auto quarter = (end - begin) / 4;
  std::size_t characters = 0;
  for (const auto& place : solid) characters += text::is_mark(place.point) ? 0 : 1;
  for (const bool at_space : {true, false}) {
    double least = 1e9;
    Cut best;
    for (std::size_t i = 1; i < solid.size(); ++i) {
      const auto left = static_cast<double>(solid[i - 1].end);
      const auto right = static_cast<double>(solid[i].begin);
      if (text::is_mark(solid[i].point)) continue;
      if (at_space && (left == right || right < begin + quarter || left > end - quarter)) continue;
      if (!at_space && characters < 4) continue;
      const auto distance = std::max({left - middle, middle - right, 0.0});
      if (distance >= least) continue;
      least = distance;
      best = {std::string(text.substr(0, solid[i - 1].end)),
              std::string(text.substr(solid[i].begin))};
    }
    if (least < 1e9) return best;
  }
  return uncut(std::string(text));
}

TEST_CASE("A text is cut at the white space nearest to its middle") {
  CHECK(halves("one two") == Cut("one", "two"));
  CHECK(halves("a b") == Cut("a", "b"));
  CHECK(halves("one two three four five") == Cut("one two three", "four five"));
  CHECK(halves("привет,\u00A0 мир") == Cut("привет,", "мир"));
  CHECK(halves("你好。\u3000世界很大") == Cut("你好。", "世界很大"));
  // What stands around the text does not count, and stays.
  CHECK(halves("          a b c ") == Cut("          a", "b c "));
}

TEST_CASE("A text without white space near its middle is cut between characters") {
  CHECK(halves("abcd") == Cut("ab", "cd"));
  CHECK(halves("你好世界") == Cut("你好", "世界"));
  CHECK(halves("a bcdefghij") == Cut("a bcd", "efghij"));
  CHECK(halves("abcdefgh i") == Cut("abcde", "fgh i"));
  CHECK(halves("ที่น้ำที่น้ำ") == Cut("ที่น้ำ", "ที่น้ำ"));
}

TEST_CASE("A mark stays with its character") {
  CHECK(halves("abe\u0301d") == Cut("ab", "e\u0301d"));
  CHECK(halves("a\u0301\u0301\u0301bcd") == Cut("a\u0301\u0301\u0301", "bcd"));
  CHECK(halves("ab👍🏽cd").second.find("🏽") != 0);
}

TEST_CASE("Both halves of a text that cannot be cut are the whole text") {
  for (const std::string text :
       {"", " ", " \n\u3000", "abc", " abc ", "中国人", "a\u0301\u0301\u0301\u0301",
        "\u0301\u0301\u0301\u0301\u0301", "\xE4\xB8"}) {
    CAPTURE(text);
    CHECK(halves(text) == uncut(text));
  }
}

TEST_CASE("No cut is nearer to the middle") {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    // What is not UTF-8 may be read otherwise from its end.
    const auto text = test::random_text(random.below(test::kTextSorts - 1), random);
    CAPTURE(text);
    REQUIRE(halves(text) == best_cut(text));
    REQUIRE(is_utf8(halves(text).first));
    REQUIRE(is_utf8(halves(text).second));
  }
}

TEST_CASE("Halves of any bytes are all of them but white space at the cut") {
  Random random(3);
  for (int round = 0; round < 20000; ++round) {
    const auto text = test::random_text(random.below(test::kTextSorts), random);
    CAPTURE(text);
    const auto [first, second] = text::halves_of(text);
    REQUIRE(first.data() == text.data());
    REQUIRE(second.data() + second.size() == text.data() + text.size());
    if (first.size() == text.size()) {
      REQUIRE(second == text);
      continue;
    }
    const auto starts = static_cast<std::size_t>(second.data() - text.data());
    bool is_start = false;
    bool is_end = false;
    for (const auto& place : places_in(text)) {
      is_start = is_start || place.begin == starts;
      is_end = is_end || place.end == first.size();
      if (place.begin >= first.size() && place.begin < starts) REQUIRE(is_space(place));
    }
    REQUIRE(is_start);
    REQUIRE(is_end);
    REQUIRE(!is_space(places_in(first).back()));
    REQUIRE(!is_space(places_in(second).front()));
  }
}

TEST_CASE("Long texts of any kind have halves") {
  constexpr std::size_t kMany = 1'000'000;
  const std::string spaces(kMany, ' ');
  CHECK(text::halves_of(spaces).first.size() == kMany);
  CHECK(text::halves_of(std::string(kMany, 'a')).first.size() == kMany / 2);
  CHECK(text::halves_of(std::string(kMany, '\x80')).first.size() == kMany / 2);
  CHECK(text::halves_of("a" + spaces + "b").first == "a");
  std::string marks;
  for (std::size_t i = 0; i < kMany; ++i) marks += "\u0301";
  CHECK(text::halves_of(marks).first.size() == marks.size());
  CHECK(text::halves_of("a b c d" + marks).first == "a b c");
}

}  // namespace
}  // namespace phsic::tests
