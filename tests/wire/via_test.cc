#include "wire/via.h"

#include <catch2/catch.hpp>

namespace phsic {
namespace {

TEST_CASE("The way of a pair is written in order, and names differ", "[via]") {
  CHECK(via_member({}, "a") == R"("via":["a"])");
  CHECK(via_member({"a", "\""}, "b") == R"("via":["a","\"","b"])");
  CHECK(random_name() != random_name());
}

TEST_CASE("A flag repeats a score for a subscriber to both", "[via]") {
  CHECK(is_copy("chat/flag", ""));
  CHECK(is_copy("chat/flag", "ch"));
  CHECK(is_copy("chat/flag", "chat/"));
  CHECK_FALSE(is_copy("chat/flag", "chat/flag"));
  CHECK_FALSE(is_copy("chat/flag", "chat/f"));
  CHECK_FALSE(is_copy("chat/score", "chat/"));
  CHECK_FALSE(is_copy("flag", ""));
}

}  // namespace
}  // namespace phsic
