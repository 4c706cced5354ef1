#include "text/plain_words.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace phsic::tests {
namespace {

// Words as they are, signs in brackets.
std::vector<std::string> plain_pieces(const std::string& text) {
  std::vector<std::string> pieces;
  text::for_each_plain_word(
      text, [&](std::string_view word) { pieces.emplace_back(word); },
      [&](std::string_view sign) { pieces.push_back('[' + std::string(sign) + ']'); });
  return pieces;
}

std::vector<std::string> icu_pieces(const std::string& text, icu::BreakIterator& breaks) {
  const auto units = icu::UnicodeString::fromUTF8(text);
  breaks.setText(units);
  std::vector<std::string> pieces;
  int32_t begin = 0;
  for (auto end = breaks.next(); end != icu::BreakIterator::DONE; end = breaks.next()) {
    const auto piece = text.substr(begin, end - begin);
    if (breaks.getRuleStatus() >= UBRK_WORD_NONE_LIMIT) {
      pieces.push_back(piece);
    } else if (u_isgraph(piece[0])) {
      pieces.push_back('[' + piece + ']');
    }
    begin = end;
  }
  return pieces;
}

}  // namespace

TEST_CASE("Plain words and signs are those that ICU finds") {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
  REQUIRE(U_SUCCESS(status));
  std::string everything;
  for (int c = 0; c < 128; ++c) {
    if (c != '_' && c != '@') everything += static_cast<char>(c);
  }
  std::mt19937 random(5);
  // All of plain text, and only what is likely to go wrong.
  for (const auto& alphabet : {everything, std::string("aZ09.',;: \r\n\"-")}) {
    for (int trial = 0; trial < 50'000; ++trial) {
      std::string text(random() % 25, ' ');
      for (char& c : text) c = alphabet[random() % alphabet.size()];
      REQUIRE(text::is_plain(text));
      REQUIRE(plain_pieces(text) == icu_pieces(text, *breaks));
    }
  }
}

TEST_CASE("Text beyond ASCII is not plain, nor are signs that versions of ICU treat differently") {
  CHECK(text::is_plain(""));
  CHECK(text::is_plain("Don't pay $3.50, ever!"));
  for (const std::string text : {"naïve", "a_b", "a@b", "\x80", "\xff"}) {
    CHECK(!text::is_plain(text));
  }
}

}  // namespace phsic::tests
