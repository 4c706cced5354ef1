#include "engine/encoder.h"

#include <catch2/catch.hpp>

namespace phsic::test {

TEST_CASE("An encoder tells whether its items add up") {
  const auto is_additive = [](const char* spec) {
    return Encoder(EncoderSpec::parse(spec), EncoderPath()).is_additive();
  };
  CHECK(is_additive("hashing:dim=64"));
  CHECK_FALSE(is_additive("hashing:dim=64,bigrams=true"));
  CHECK_FALSE(is_additive("vectors:dim=3"));
  CHECK_FALSE(Encoder(Encoder::kWhole).is_additive());
}

}  // namespace phsic::test
