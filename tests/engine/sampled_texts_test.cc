#include "engine/sampled_texts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/spectrum.h"

namespace phsic::test {
namespace {

TEST_CASE("Texts that are kept are found again, and no others") {
  Random random(5);
  SampledTexts texts;
  std::vector<std::uint64_t> kept;
  std::uint64_t number = 0;
  const auto text = [](std::uint64_t n, const char* side) { return side + std::to_string(n); };
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint64_t> known = kept;
    for (int i = 0; i < 300; ++i, ++number) {
      texts.add(number, text(number, "x"), text(number, "y"));
      known.push_back(number);
    }
    kept.clear();
    for (const auto n : known) {
      if (random.below(3) == 0) kept.push_back(n);
    }
    texts.keep_only(kept);
    CHECK(texts.size() == kept.size());
    for (std::uint64_t n = 0; n < number; ++n) {
      const bool is_kept = std::binary_search(kept.begin(), kept.end(), n);
      const auto found = texts.find(n);
      REQUIRE(found.has_value() == is_kept);
      if (found) CHECK((found->first == text(n, "x") && found->second == text(n, "y")));
    }
  }
}

TEST_CASE("A long text is cut between characters") {
  SampledTexts texts;
  std::string eights;
  while (eights.size() < 3000) eights += "八";
  texts.add(0, "a" + eights, eights);
  const auto found = texts.find(0);
  REQUIRE(found);
  for (const auto cut : {found->first, found->second}) {
    CHECK(cut.size() <= SampledTexts::kLongest);
    CHECK(cut.size() > SampledTexts::kLongest - 4);
    CHECK(is_utf8(cut));
  }
}

TEST_CASE("It is crowded before it is more than twice as large as needed") {
  SampledTexts texts;
  for (std::uint64_t n = 0; n < 5000; ++n) {
    texts.add(n, "x", "y");
    if (texts.is_crowded()) texts.keep_only({n});
    REQUIRE(texts.size() < 1100);
  }
}

}  // namespace
}  // namespace phsic::test
