// Texts before they are cut into words: stream-safe and in normal form, even those made to be slow.
#include "text/tokenizer.h"

#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace phsic::tests {
namespace {

using text::Normalization;

constexpr Normalization kNormalizations[] = {Normalization::kNfc, Normalization::kNfkcCasefold};

std::string repeated(const std::string& unit, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += unit;
  return text;
}

std::string normalized(const std::string& text, Normalization normalization) {
  std::string out;
  text::normalize(text, normalization, out);
  return out;
}

std::string normalized_by_icu(const std::string& text, Normalization normalization) {
  UErrorCode status = U_ZERO_ERROR;
  const auto* normalizer = normalization == Normalization::kNfc
                               ? icu::Normalizer2::getNFCInstance(status)
                               : icu::Normalizer2::getNFKCCasefoldInstance(status);
  std::string out;
  icu::StringByteSink<std::string> sink(&out);
  normalizer->normalizeUTF8(0, text, sink, nullptr, status);
  REQUIRE(U_SUCCESS(status));
  return out;
}

std::size_t most_marks(const std::string& text) {
  const auto units = icu::UnicodeString::fromUTF8(text);
  std::size_t most = 0;
  std::size_t run = 0;
  for (int32_t at = 0; at < units.length(); at = units.moveIndex32(at, 1)) {
    run = u_getCombiningClass(units.char32At(at)) == 0 ? 0 : run + 1;
    most = std::max(most, run);
  }
  return most;
}

std::string random_text(const std::vector<std::pair<UChar32, UChar32>>& ranges, std::size_t points,
                        std::mt19937& random) {
  icu::UnicodeString text;
  for (std::size_t i = 0; i < points; ++i) {
    const auto& [first, last] = ranges[random() % ranges.size()];
    text.append(first + static_cast<UChar32>(random() % static_cast<unsigned>(last - first + 1)));
  }
  std::string bytes;
  return text.toUTF8String(bytes);
}

std::vector<std::string> words_of(const text::Tokenizer& tokenizer, const std::string& text) {
  text::Tokens tokens;
  tokenizer.split(text, tokens);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) words.emplace_back(tokens.word(i));
  return words;
}

std::vector<std::string> words_by_icu(const std::string& text, icu::BreakIterator& breaks) {
  const auto units = icu::UnicodeString::fromUTF8(text);
  breaks.setText(units);
  std::vector<std::string> words;
  int32_t begin = 0;
  for (auto end = breaks.next(); end != icu::BreakIterator::DONE; end = breaks.next()) {
    if (breaks.getRuleStatus() >= UBRK_WORD_NONE_LIMIT) {
      units.tempSubStringBetween(begin, end).toUTF8String(words.emplace_back());
    }
    begin = end;
  }
  return words;
}

}  // namespace

TEST_CASE("Thirty marks stay as they are, and a joiner comes before the next") {
  const auto thirty = "q" + repeated("\u0316", 30);
  for (const auto normalization : kNormalizations) {
    CHECK(normalized(thirty, normalization) == thirty);
    CHECK(normalized(thirty + "\u0316z", normalization) == thirty + "\u034F\u0316z");
    // A precomposed character has a mark already.
    CHECK(normalized("\u00e9" + repeated("\u0301", 30), normalization) ==
          "\u00e9" + repeated("\u0301", 29) + "\u034F\u0301");
    // On each side of the joiner marks are in order.
    CHECK(normalized("q" + repeated("\u0301\u0316", 30), normalization) ==
          "q" + repeated("\u0316", 15) + repeated("\u0301", 15) + "\u034F" +
              repeated("\u0316", 15) + repeated("\u0301", 15));
  }
}

TEST_CASE("Normal text has at most thirty marks in a row") {
  for (const auto normalization : kNormalizations) {
    for (const auto* unit :
         {"\u0301\u0316", "\u0344", "\u0f73\u0301", "\u0301\uff9e", "\u0301\u034f\u0316",
          "\u0301\u00ad\u0316", "\u0301\u200d\u0316\ufe0f", "\u064b\u0651\u0655", "\u0e38\u0e48"}) {
      INFO(unit);
      CHECK(most_marks(normalized("a" + repeated(unit, 500), normalization)) <= 30);
    }
  }
}

TEST_CASE("Other text is normalised as ICU does it") {
  std::mt19937 random(11);
  const std::vector<std::pair<UChar32, UChar32>> ranges = {
      {' ', '~'},       {0xA0, 0x24F},    {0x300, 0x36F},   {0x5B0, 0x5C2},    {0x640, 0x655},
      {0xE31, 0xE4E},   {0x1100, 0x11FF}, {0x1F00, 0x1FFF}, {0x200B, 0x200F},  {0x3041, 0x30FF},
      {0xAC00, 0xACFF}, {0xFE00, 0xFE0F}, {0xFF66, 0xFF9F}, {0x1D157, 0x1D170}};
  for (int trial = 0; trial < 5'000; ++trial) {
    auto text = random_text(ranges, random() % 14, random);
    if (trial % 10 == 0) text += "\xc3 \xff";
    for (const auto normalization : kNormalizations) {
      REQUIRE(normalized(text, normalization) == normalized_by_icu(text, normalization));
    }
  }
}

TEST_CASE("Words of scripts without a dictionary are those that ICU finds") {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
  REQUIRE(U_SUCCESS(status));
  const text::Tokenizer tokenizer("icu", Normalization::kNfc, text::Signs::kDropped);
  std::mt19937 random(13);
  // Tai Le, New Tai Lue, Tai Tham, Tai Viet and Ahom, and what may stand beside them.
  const std::vector<std::pair<UChar32, UChar32>> ranges = {
      {0x1950, 0x1974},   {0x1980, 0x19DF}, {0x1A20, 0x1AAD}, {0xAA80, 0xAADF},
      {0x11700, 0x11746}, {0xE01, 0xE4E},   {0x1780, 0x17D3}, {'a', 'f'},
      {'0', '9'},         {' ', '/'},       {0x300, 0x30F},   {0x4E00, 0x4EFF}};
  for (int trial = 0; trial < 2'000; ++trial) {
    const auto text =
        normalized(random_text(ranges, random() % 20, random), Normalization::kNfc) + "\u00e9";
    REQUIRE(words_of(tokenizer, text) == words_by_icu(text, *breaks));
  }
}

TEST_CASE("Tokens tell how much memory a long text left them") {
  const text::Tokenizer tokenizer("icu", Normalization::kNfc, text::Signs::kDropped);
  text::Tokens tokens;
  tokenizer.split(repeated("\u00e9 ", 100'000), tokens);
  CHECK(tokens.held_bytes() > 300'000 * (1 + sizeof(char16_t)));
}

}  // namespace phsic::tests
