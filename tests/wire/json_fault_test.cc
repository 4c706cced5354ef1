#include "wire/json_fault.h"

#include <catch2/catch.hpp>
#include <string>

namespace phsic {
namespace {

TEST_CASE("Broken JSON is told with its place and without its texts", "[json]") {
  CHECK(json_fault(R"({"op":"ping"})").empty());
  CHECK(json_fault("").starts_with("at byte 0 ("));
  CHECK(json_fault(R"({"op":"ping",})").starts_with("at byte 13 ("));
  CHECK(json_fault(R"({"op":"ping"} x)").starts_with("at byte 14 ("));
  CHECK(json_fault(R"({"x":"secret)").starts_with("at byte 12 ("));
  CHECK(json_fault("{\"x\":\"a\xff\"}").starts_with("at byte 7 ("));
  for (const auto* text :
       {R"({"x":"secret)", "{\"x\":\"secret\xff\"}", "secret", R"({"x":secret})"}) {
    CHECK(json_fault(text).find("secret") == std::string::npos);
  }
}

TEST_CASE("A long text is looked at where it begins", "[json]") {
  const std::string blank(100000, ' ');
  CHECK(json_fault("{" + blank + "]").empty());
  CHECK(json_fault("]" + blank).starts_with("at byte 0 ("));
}

}  // namespace
}  // namespace phsic
