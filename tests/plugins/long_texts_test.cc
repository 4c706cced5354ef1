// Long texts, and those made to be slow, whatever the encoder.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "plugins/scratch_pool.h"
#include "tests/plugins/specimens.h"

namespace phsic::tests {

TEST_CASE("A long text has the pieces of its sentences") {
  const LoadedEncoder encoder(
      shipped("hashing"),
      R"({"dim": 64, "tokens": ")" + (specimen_models() / "pieces.model") + R"("})");
  const std::vector<std::string> sentences = {"the river carries boats", "while seven birds sing",
                                              "about Paris and about old stones"};
  std::string text;
  Row sum(64);
  for (int i = 0; i < 1'000; ++i) {
    const auto& sentence = sentences[static_cast<std::size_t>(i) % sentences.size()];
    const auto row = encoder.encode(sentence);
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += row[d];
    text += sentence + " ";
  }
  REQUIRE(text.size() > 20'000);
  CHECK(encoder.encode(text) == sum);
}

TEST_CASE("Scratch memory that a long text made large is not kept") {
  struct Scratch {
    std::size_t bytes = 0;
    [[nodiscard]] std::size_t held_bytes() const { return bytes; }
  };
  using Pool = plugins::ScratchPool<Scratch>;
  Pool pool;
  { (*Pool::Loan(pool)).bytes = 1000; }
  CHECK((*Pool::Loan(pool)).bytes == 1000);
  { (*Pool::Loan(pool)).bytes = 10'000'000; }
  CHECK((*Pool::Loan(pool)).bytes == 0);
}

// Where an encoder's cost is the square of the length, one of these takes minutes: see TIMEOUT.
TEST_CASE("No encoder takes long for a text made to be slow", "[cost]") {
  const auto of_length = [](const std::string& unit, std::size_t bytes) {
    std::string text = "a";
    while (text.size() + unit.size() <= bytes + 1) text += unit;
    return text;
  };
  for_each_specimen([&](const Specimen& specimen) {
    if (!specimen.takes_any_text) return;
    static_cast<void>(specimen.open().encode(of_length("\u0301\u0316", 1'000'000)));
    // Nothing that the model of pieces knows.
    if (specimen.name != "hashing pieces") return;
    static_cast<void>(specimen.open().encode(of_length("\u4e2d", 3'000'000)));
  });
  const LoadedEncoder folding(shipped("hashing"), "{}");
  static_cast<void>(folding.encode(of_length("\u0301\u034f\u0316", 1'000'000)));
  // Two scripts without a dictionary.
  static_cast<void>(folding.encode(of_length("\u1950\u1980", 10'000'000)));
}

}  // namespace phsic::tests
