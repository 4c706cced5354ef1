#include <fasttext/fasttext.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/plugins/loaded_encoder.h"
#include "tests/plugins/model_files.h"

namespace phsic::tests {
namespace {

LoadedEncoder encoder_for(const std::string& file, const std::string& weight) {
  const nlohmann::json options = {
      {"file", file}, {"weight", weight}, {"tokens", "whitespace"}, {"case", "keep"}};
  return {shipped("fasttext"), options.dump()};
}

std::string fasttext_refusal(const std::string& file) {
  return opening_error(shipped("fasttext"), nlohmann::json{{"file", file}}.dump());
}

void require_near(const Row& found, const fasttext::Vector& expected) {
  for (std::size_t d = 0; d < found.size(); ++d) {
    REQUIRE(found[d] == Approx(expected[static_cast<std::int64_t>(d)]).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("Words have the vectors that libfasttext gives them, seen or not") {
  const TestFolder folder;
  const auto options = GENERATE(FastTextOptions{}, FastTextOptions{.is_supervised = true},
                                FastTextOptions{.is_supervised = true, .is_quantised = true},
                                FastTextOptions{.buckets = 0, .longest_gram = 0});
  const auto file = folder / "model";
  make_fasttext_model(file, options);
  fasttext::FastText model;
  model.loadModel(file);
  const auto mean = encoder_for(file, "mean");
  REQUIRE(mean.dimension() == 8);
  for (const std::string word : {"the", "river", "Paris", "rivers", "unseen", "ab", "Ünïcödé"}) {
    INFO(word);
    fasttext::Vector expected(8);
    model.getWordVector(expected, word);
    require_near(mean.encode(word), expected);
  }
}

TEST_CASE("The vector of a text is that of libfasttext's sentences") {
  const TestFolder folder;
  const auto file = folder / "model.bin";
  make_fasttext_model(file);
  fasttext::FastText model;
  model.loadModel(file);
  const auto unit = encoder_for(file, "unit");
  const auto sum = encoder_for(file, "sum");
  for (const std::string text : {"the quick brown fox", "seven rivers and boatmen", "the the"}) {
    std::istringstream in(text + "\n");
    fasttext::Vector expected(8);
    model.getSentenceVector(in, expected);
    require_near(unit.encode(text), expected);
    expected.zero();
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      fasttext::Vector vector(8);
      model.getWordVector(vector, word);
      expected.addVector(vector);
    }
    require_near(sum.encode(text), expected);
  }
}

TEST_CASE("A label is not a word") {
  const TestFolder folder;
  const auto file = folder / "model.bin";
  // Without n-grams the row of a label would lie behind the matrix.
  make_fasttext_model(file, {.is_supervised = true, .buckets = 0, .longest_gram = 0});
  CHECK(encoder_for(file, "mean").encode("__label__odd") == Row(8));
}

TEST_CASE("A word is looked for in other cases before its n-grams are") {
  const TestFolder folder;
  const auto file = folder / "model.bin";
  make_fasttext_model(file);
  const LoadedEncoder encoder(shipped("fasttext"), nlohmann::json{{"file", file}}.dump());
  CHECK(encoder.encode("RIVER") == encoder.encode("river"));
  CHECK(encoder.encode("paris") == encoder.encode("Paris"));
}

TEST_CASE("What is no fastText model is refused") {
  const TestFolder folder;
  const auto text = folder.write("words.vec", "2 2\na 1 2\nb 3 4\n");
  CHECK(fasttext_refusal(text) ==
        text +
            ": byte 0: found \"2 2\\x0aa 1 2\\x0ab 3 4\\x0a\", expected the magic number "
            "793712314 (wordvec reads .vec files) in a fastText model");
  CHECK(fasttext_refusal(folder.write("empty", "")).find("empty") != std::string::npos);
  CHECK(fasttext_refusal(folder / "none").find("No such file") != std::string::npos);
  CHECK(fasttext_refusal(folder.path()).find("no regular file") != std::string::npos);
}

TEST_CASE("Every truncation of a model is refused") {
  const EncoderLibrary keep(shipped("fasttext"));  // loaded, for speed
  const TestFolder folder;
  const auto file = folder / "model";
  for (const bool is_quantised : {false, true}) {
    make_fasttext_model(file, {.is_supervised = is_quantised, .is_quantised = is_quantised});
    const auto bytes = read_file(file);
    const auto step = std::max<std::size_t>(1, bytes.size() / 700);
    for (std::size_t size = 0; size < bytes.size(); size += size < 300 ? 1 : step) {
      INFO(size);
      const auto cut = folder.write("cut", bytes.substr(0, size));
      REQUIRE(fasttext_refusal(cut).find(cut) == 0);
    }
    const auto longer = folder.write("longer", bytes + "x");
    REQUIRE(fasttext_refusal(longer).find("expected the end of the file") != std::string::npos);
  }
}

TEST_CASE("A damaged model is refused or harmless") {
  const EncoderLibrary keep(shipped("fasttext"));
  const TestFolder folder;
  const auto file = folder / "model";
  std::mt19937 random(4);
  for (const bool is_quantised : {false, true}) {
    // hs and ns losses cost libfasttext tables; softmax does not.
    make_fasttext_model(file, {.is_supervised = true, .is_quantised = is_quantised});
    const auto good = read_file(file);
    for (int trial = 0; trial < 400; ++trial) {
      auto bad = good;
      // Mostly in the beginning, where the numbers are that libfasttext does not check.
      const auto at = random() % (trial % 4 == 0 ? bad.size() : 600);
      const std::int32_t nonsense[] = {-1, 0, 1, 0x7fffffff, static_cast<std::int32_t>(random())};
      const auto& value = nonsense[random() % 5];
      std::memcpy(bad.data() + at, &value, std::min(sizeof value, bad.size() - at));
      try {
        const auto encoder = encoder_for(folder.write("bad", bad), "mean");
        for (const float v : encoder.encode("the river unseen __label__odd")) {
          REQUIRE(std::isfinite(v));
        }
      } catch (const std::runtime_error& error) {
        REQUIRE(std::string(error.what()).find("bad") != std::string::npos);
      }
    }
  }
}

}  // namespace phsic::tests
