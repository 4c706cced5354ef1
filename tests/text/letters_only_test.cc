#include "text/letters_only.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace phsic::tests {
namespace {

std::string letters_of(std::string_view text) {
  std::string out;
  text::append_letters(text, out);
  return out;
}

std::string utf8_of(UChar32 point) {
  std::array<std::uint8_t, U8_MAX_LENGTH> encoded{};
  std::size_t size = 0;
  U8_APPEND_UNSAFE(encoded.data(), size, point);
  return {reinterpret_cast<const char*>(encoded.data()), size};
}

// What one character leaves, by the functions of ICU for single questions.
std::string left_of_point(UChar32 point) {
  const auto type = u_charType(point);
  const bool is_number =
      type == U_DECIMAL_DIGIT_NUMBER || type == U_LETTER_NUMBER || type == U_OTHER_NUMBER;
  const bool is_mark =
      type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK || type == U_COMBINING_SPACING_MARK;
  if (point == 0xFFFD) return utf8_of(point);
  if (is_number) return "0";
  if (u_hasBinaryProperty(point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)) return "";
  if (!is_mark && !u_isalpha(point)) return "";
  // Signs that count as alphabetic, such as circled letters, are signs.
  if (type == U_OTHER_SYMBOL) return "";
  return utf8_of(u_foldCase(point, U_FOLD_CASE_DEFAULT));
}

}  // namespace

TEST_CASE("Every character of Unicode is folded, a zero or left out, as its properties say") {
  for (UChar32 point = 1; point <= 0x10FFFF; ++point) {
    if (U_IS_SURROGATE(point)) continue;
    const std::string left = letters_of("a" + utf8_of(point) + "b");
    if (left != "a" + left_of_point(point) + "b") {
      CAPTURE(point, left);
      REQUIRE(left == "a" + left_of_point(point) + "b");
    }
  }
}

TEST_CASE("Case, signs and spaces leave nothing") {
  CHECK(letters_of("Hello, World!") == "helloworld");
  CHECK(letters_of("  hello\tWORLD\r\n") == "helloworld");
  CHECK(letters_of("it's") == letters_of("ITS"));
  CHECK(letters_of("co\u00ADop\u200Ber\u200Date\uFE0F") == "cooperate");
  CHECK(letters_of("\u00AB \u00C4rger \u00BB \u2013 \U0001F600") == "\u00E4rger");
}

TEST_CASE("Numbers leave one zero whatever their values, lengths, signs and scripts") {
  CHECK(letters_of("page 9") == "page0");
  for (const char* text : {"page 10", "Page 1,024", "page: 10-12", "PAGE \u0661\u0662",
                           "page \uFF11", "page \u0E51", "page \u00BD", "page \u2167."}) {
    CAPTURE(text);
    CHECK(letters_of(text) == "page0");
  }
  CHECK(letters_of("9a10b11") == "0a0b0");
  CHECK(letters_of("10") == letters_of("1999"));
  // The run before belongs to another text.
  std::string both = "10";
  text::append_letters("20", both);
  CHECK(both == "100");
}

TEST_CASE("Characters that are numbers are counted one by one, in any script") {
  const auto numbers_in = [](std::string_view text) {
    std::string out = "7 before";
    return text::append_letters(text, out);
  };
  CHECK(numbers_in("") == 0);
  CHECK(numbers_in("page, ?!") == 0);
  CHECK(numbers_in("page 1,024") == 4);
  CHECK(numbers_in("9a10b11") == 5);
  CHECK(numbers_in("\u0661\u0662 \uFF11 \u00BD \u2167") == 5);
  // Letters all the same.
  CHECK(numbers_in("\u4E00\u4E8C") == 0);
}

TEST_CASE("Letters are folded one by one, the same in every locale") {
  // The Turkish i with and without its dot are letters of their own.
  CHECK(letters_of("I") == "i");
  CHECK(letters_of("\u0130\u0131") == "\u0130\u0131");
  CHECK(letters_of("Stra\u00DFe") == "stra\u00DFe");
  CHECK(letters_of("STRA\u1E9EE") == "stra\u00DFe");
  CHECK(letters_of("strasse") != letters_of("stra\u00DFe"));
  CHECK(letters_of("\u039F\u0394\u039F\u03A3") == letters_of("\u03BF\u03B4\u03BF\u03C2"));
  CHECK(letters_of("\u041C\u0418\u0420") == "\u043C\u0438\u0440");
  // Folding may make a character longer: two bytes become three.
  CHECK(letters_of("\u023A\u023A\u023A") == "\u2C65\u2C65\u2C65");
}

TEST_CASE("Scripts without case or spaces keep their letters and marks") {
  const std::string thai = "\u0E17\u0E35\u0E48\u0E19\u0E35\u0E48";
  CHECK(letters_of(thai + " !") == thai);
  CHECK(letters_of("\u4F60\u597D\uFF0C\u4E16\u754C\u3002") == "\u4F60\u597D\u4E16\u754C");
  // A numeral of Chinese is a letter.
  CHECK(letters_of("\u4E00") != letters_of("\u4E8C"));
  const std::string hindi = "\u0939\u093F\u0928\u094D\u0926\u0940";
  CHECK(letters_of(hindi + "\u0964") == hindi);
}

TEST_CASE("A text of signs alone keeps its bytes") {
  const std::vector<std::string> signs{"", "?!", "...", " ", "\u2026", "\U0001F600", "\U0001F601"};
  for (const auto& text : signs) CHECK(letters_of(text) == text);
  CHECK(letters_of("?!0") == "0");
  // What was there before stays.
  std::string out = "a";
  text::append_letters("?!", out);
  CHECK(out == "a?!");
}

TEST_CASE("Broken bytes count as a letter") {
  CHECK(letters_of("a\xFFz") == "a\uFFFDz");
  CHECK(letters_of("a\xFEz") == letters_of("a\xFFz"));
  CHECK(letters_of("\xFF\xFF\xFF") == "\uFFFD\uFFFD\uFFFD");
  CHECK(letters_of("az") != letters_of("a\xFFz"));
  // Sequences cut short, overlong or of surrogates.
  for (const char* text : {"\xC3", "\xE4\xBD", "\xF0\x9F\x98", "\xC0\x80", "\xED\xA0\x80"}) {
    CAPTURE(text);
    CHECK(letters_of(text).find("\uFFFD") == 0);
    CHECK(letters_of(letters_of(text)) == letters_of(text));
  }
  CHECK(letters_of(std::string_view("a\0b", 3)) == "ab");
}

TEST_CASE("What is left of a text leaves itself") {
  std::uint32_t state = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525 + 1013904223;
      // Bytes at random, in some rounds mostly ASCII.
      const std::uint32_t byte = state >> 24U;
      text += static_cast<char>(round % 2 == 0 ? byte : byte % 128);
    }
    const std::string left = letters_of(text);
    REQUIRE(letters_of(left) == left);
    REQUIRE(left.size() <= 3 * text.size());
    // Spaces at a character's end change nothing.
    if (left != text && round % 2 == 1) REQUIRE(letters_of(text + " !") == left);
  }
}

}  // namespace phsic::tests
