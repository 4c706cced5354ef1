#include "text/letter_case.h"

#include <catch2/catch.hpp>
#include <string>

namespace phsic::tests {
namespace {

std::string in_case(const std::string& word, text::LetterCase letter_case) {
  std::string out = "what was there before";
  text::write_in_case(word, letter_case, out);
  return out;
}

}  // namespace

TEST_CASE("A word is written in each case") {
  using text::LetterCase;
  CHECK(in_case("NASA", LetterCase::kLower) == "nasa");
  CHECK(in_case("nasa", LetterCase::kUpper) == "NASA");
  CHECK(in_case("pARIS", LetterCase::kCapitalised) == "Paris");
  CHECK(in_case("", LetterCase::kUpper).empty());
}

TEST_CASE("The first letter of a word is capitalised, whatever stands before it") {
  CHECK(in_case("'tis", text::LetterCase::kCapitalised) == "'Tis");
  CHECK(in_case("\u01c6ungla", text::LetterCase::kCapitalised) == "\u01c5ungla");
}

TEST_CASE("Case changes character by character, the same in every locale") {
  CHECK(in_case("\u00c9\u0416I", text::LetterCase::kLower) == "\u00e9\u0436i");
  // ß in upper case would be two characters.
  CHECK(in_case("stra\u00dfe", text::LetterCase::kUpper) == "STRA\u00dfE");
  CHECK(in_case("a\xff", text::LetterCase::kUpper) == "A\ufffd");
}

}  // namespace phsic::tests
