#include "text/text_units.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "core/spectrum.h"
#include "tests/text/random_texts.h"
#include "text/characters.h"

namespace phsic::tests {
namespace {

std::vector<std::string> units_of(std::string_view text) {
  const text::TextUnits units(text);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < units.size(); ++i) found.emplace_back(units.unit(i));
  return found;
}

std::string joined(std::string_view text) { return text::join(text::TextUnits(text).units()); }

bool has_white_space(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text::is_white_space(text::next_character(text, at))) return true;
  }
  return false;
}

using Found = std::vector<std::string>;

TEST_CASE("Words are the units of a text with white space between them") {
  CHECK(units_of(" one  two,\nthree\u00A0four ") == Found{"one", "two,", "three", "four"});
  CHECK(units_of("привет мир") == Found{"привет", "мир"});
  CHECK(units_of("안녕 세계") == Found{"안녕", "세계"});
  CHECK(units_of("word") == Found{"word"});
  CHECK(units_of("").empty());
  CHECK(units_of(" \u3000\n").empty());
  CHECK(joined(" one  two,\nthree\u00A0four ") == "one two, three four");
  CHECK(text::TextUnits("one two").joiner() == " ");
}

TEST_CASE("Characters are the units of a script without spaces") {
  CHECK(units_of("你好,世界") == Found{"你", "好", ",", "世", "界"});
  CHECK(units_of("ที่น้ำ") == Found{"ที่", "น้ำ"});
  CHECK(units_of("ひらがな ok") == Found{"ひ", "ら", "が", "な", "o", "k"});
  CHECK(text::TextUnits("你好").joiner().empty());
  // A few of them in a text of words are words.
  CHECK(units_of("hello 你好 world") == Found{"hello", "你好", "world"});
}

TEST_CASE("Characters are the units where words are too long to be words") {
  CHECK(units_of(std::string(15, 'a')).size() == 1);
  CHECK(units_of(std::string(16, 'a')).size() == 16);
  CHECK(units_of(std::string(20, 'a') + " b").size() == 2);
  // Marks make no word longer.
  std::string marked;
  for (int i = 0; i < 15; ++i) marked += "a\u0301\u0323";
  CHECK(units_of(marked).size() == 1);
  CHECK(units_of(marked + "a").size() == 16);
}

TEST_CASE("Characters keep the white space that stood before them") {
  CHECK(joined("你好  世界\n") == "你好 世界");
  CHECK(joined(" 你好") == "你好");
  const text::TextUnits units("你好 世界");
  std::vector<text::TextUnit> turned(units.units().rbegin(), units.units().rend());
  CHECK(text::join(turned) == "界 世好你");
}

TEST_CASE("Units of two texts are joined each in its own way") {
  const text::TextUnits words("one two");
  const text::TextUnits characters("世 界");
  CHECK(text::join(std::vector{words.units()[0], characters.units()[0], words.units()[1],
                               characters.units()[1]}) == "one世 two 界");
}

TEST_CASE("A part of a text is as it stood there") {
  const text::TextUnits units(" one  two\tthree ");
  CHECK(units.part(0, 3) == "one  two\tthree");
  CHECK(units.part(1, 3) == "two\tthree");
  CHECK(units.part(1, 2) == "two");
  CHECK(units.part(1, 1).empty());
  CHECK(text::TextUnits("").part(0, 0).empty());
}

TEST_CASE("Units are what a text has besides white space, in order") {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    const auto sort = random.below(test::kTextSorts);
    const auto text = test::random_text(sort, random);
    CAPTURE(sort, text);
    const text::TextUnits units(text);
    std::size_t at = 0;
    for (const auto& unit : units.units()) {
      const auto begin = static_cast<std::size_t>(unit.text.data() - text.data());
      REQUIRE(begin >= at);
      // Nothing but white space lies between two of them.
      REQUIRE(units_of(text.substr(at, begin - at)).empty());
      REQUIRE(!unit.text.empty());
      REQUIRE(!has_white_space(unit.text));
      if (is_utf8(text)) REQUIRE(is_utf8(unit.text));
      at = begin + unit.text.size();
    }
    REQUIRE(units_of(text.substr(at)).empty());
    REQUIRE(joined(joined(text)) == joined(text));
    REQUIRE(joined(text).size() <= text.size());
  }
}

TEST_CASE("Long texts of any kind have units") {
  constexpr std::size_t kMany = 300'000;
  CHECK(units_of(std::string(kMany, ' ')).empty());
  CHECK(units_of(std::string(kMany, 'a')).size() == kMany);
  CHECK(units_of(std::string(kMany, '\x80')).size() == kMany);
  std::string marks;
  for (std::size_t i = 0; i < kMany; ++i) marks += "\u0301";
  CHECK(units_of(marks).size() == 1);
}

}  // namespace
}  // namespace phsic::tests
