#include "wire/printable.h"

#include <catch2/catch.hpp>

namespace phsic::test {
namespace {

TEST_CASE("What would command a terminal or turn the writing becomes a question mark") {
  for (const std::string text :
       {"\x1b", "\n", "\r", "\t", "\x07", "\x7f", "\u0080", "\u0085", "\u009b", "\u009f", "\u2028",
        "\u2029", "\u202a", "\u202e", "\u2066", "\u2069", "\u206f", "\xff"}) {
    CAPTURE(text);
    CHECK(printable("a" + text + "b") == "a?b");
    CHECK(quote(text) == "\"?\"");
  }
  CHECK(printable(std::string(1, '\0')) == "?");
  CHECK(printable("\xe2\x80") == "??");  // cut
}

TEST_CASE("Every other text is shown as it is") {
  for (const std::string text :
       {" ", "~", "é", "\u00a0", "Š", "\u200d", "\u200e", "\u200f", "\u2027", "\u202f", "\u2065",
        "\u2070", "€", "שלום", "日本", "😀"}) {
    CAPTURE(text);
    CHECK(printable("a" + text + "b") == "a" + text + "b");
  }
}

TEST_CASE("Lines that are made fit for a terminal stay lines") {
  CHECK(printable_lines("a\tb\r\nc\rd\n\x1b[2J\u202e\r") == "a\tb\r\nc?d\n?[2J??");
}

}  // namespace
}  // namespace phsic::test
