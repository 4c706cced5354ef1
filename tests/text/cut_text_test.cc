#include "text/cut_text.h"

#include <catch2/catch.hpp>
#include <string>

namespace phsic::tests {

TEST_CASE("A text that is short enough stays whole") {
  CHECK(text::cut_text("", 4).empty());
  CHECK(text::cut_text("abcd", 4) == "abcd");
}

TEST_CASE("A text is cut between characters") {
  CHECK(text::cut_text("abcde", 4) == "abcd");
  CHECK(text::cut_text("abc\u00e9", 4) == "abc");
  CHECK(text::cut_text("ab\u20ac", 4) == "ab");
  CHECK(text::cut_text("a\U0001f600", 4) == "a");
  CHECK(text::cut_text("\u00e9\u00e9\u00e9", 4) == "\u00e9\u00e9");
}

TEST_CASE("Of bytes that are no UTF-8 at most four are lost") {
  CHECK(text::cut_text(std::string(20, '\x80'), 10).size() == 6);
}

}  // namespace phsic::tests
