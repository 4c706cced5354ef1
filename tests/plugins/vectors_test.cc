#include <catch2/catch.hpp>

#include "tests/plugins/loaded_encoder.h"

namespace phsic::tests {

TEST_CASE("Numbers are taken as they are in all notations") {
  const LoadedEncoder encoder(shipped("vectors"), R"({"dim": 3})");
  for (const std::string text : {"0.5 -2 30", "0.5,-2,30", "0.5;-2;30", "[0.5, -2, 3e1]",
                                 " [ 5E-1 ,\t-2.0 ;\n +30. ] ", "0.5 ,-2 ; 30\r\n"}) {
    INFO(text);
    CHECK(encoder.encode(text) == Row{0.5F, -2, 30});
  }
  CHECK(encoder.encode("1e-60 0 -1e-60") == Row{0, 0, 0});
}

TEST_CASE("What is no vector is refused with the place, found and expected") {
  const LoadedEncoder encoder(shipped("vectors"), R"({"dim": 3})");
  struct Case {
    std::string text, message;
  };
  for (const auto& [text, message] :
       {Case{"", "found 0 numbers, expected 3"}, Case{"[]", "found 0 numbers, expected 3"},
        Case{"1 2", "found 2 numbers, expected 3"}, Case{"1 2 3 4", "found 4 numbers, expected 3"},
        Case{"1 two 3", "number 2: found \"two\", expected a finite number"},
        Case{"1 2 nan", "number 3: found \"nan\", expected a finite number"},
        Case{"inf 2 3", "number 1: found \"inf\", expected a finite number"},
        Case{"1 1e39 3", "number 2: found \"1e39\", expected a finite number"},
        Case{"1,,3", "number 2: found nothing, expected a finite number"},
        Case{"1,2,3,", "number 4: found nothing, expected a finite number"},
        Case{",1,2,3", "number 1: found nothing, expected a finite number"},
        Case{"1 0x10 3", "number 2: found \"0x10\", expected a finite number"},
        Case{"[1 2 3", "found [ without ], expected both brackets or none"},
        Case{"1 2 3]", "found ] without [, expected both brackets or none"},
        Case{"[", "found [ without ], expected both brackets or none"},
        Case{"[[1 2 3]]", "number 1: found \"[1\", expected a finite number"},
        Case{std::string("1 2\0 3", 6), "number 2: found \"2\\x00\", expected a finite number"}}) {
    const auto outcome = encoder.encode_once({text});
    CHECK(outcome.status == PHSIC_BAD_TEXT);
    CHECK(outcome.error == message);
  }
}

TEST_CASE("The texts before a bad one are encoded") {
  const LoadedEncoder encoder(shipped("vectors"), R"({"dim": 1})");
  const auto outcome = encoder.encode_once({"1", "2", "x", "4"});
  CHECK(outcome.status == PHSIC_BAD_TEXT);
  CHECK(outcome.rows == std::vector<Row>{{1}, {2}});
}

TEST_CASE("The dimension of vectors must be given") {
  CHECK(opening_error(shipped("vectors"), "{}") ==
        "option dim is null, expected a whole number from 1 to 32768");
  CHECK(opening_error(shipped("vectors"), R"({"dim": 32769})") ==
        "option dim is 32769, expected a whole number from 1 to 32768");
}

}  // namespace phsic::tests
