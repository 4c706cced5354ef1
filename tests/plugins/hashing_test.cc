#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/plugins/loaded_encoder.h"
#include "tests/plugins/model_files.h"

namespace phsic::tests {
namespace {

LoadedEncoder hashing(const std::string& options = "{}") { return {shipped("hashing"), options}; }

std::string random_word(std::mt19937& random) {
  std::string word(5 + random() % 5, ' ');
  for (char& c : word) c = static_cast<char>('a' + random() % 26);
  return word;
}

}  // namespace

TEST_CASE("Spellings that Unicode holds for the same have the same vector") {
  const auto encoder = hashing();
  const auto expected = encoder.encode("straße café 1");
  for (const std::string text :
       {"STRASSE CAFÉ 1", "Straße Cafe\u0301 1", "ｓｔｒａｓｓｅ café １", "straße,  café: ①!"}) {
    INFO(text);
    CHECK(encoder.encode(text) == expected);
  }
  CHECK(encoder.encode("strase café 1") != expected);
}

TEST_CASE("Without folding, cases differ but forms of one character do not") {
  const auto encoder = hashing(R"({"fold": false})");
  CHECK(encoder.encode("Paris") != encoder.encode("paris"));
  CHECK(encoder.encode("café") == encoder.encode("cafe\u0301"));
}

TEST_CASE("Words are found in languages that do not separate them") {
  // Whole words only, so that shared places mean shared words.
  const auto encoder = hashing(R"({"longest": 0, "dim": 32768})");
  struct Case {
    std::string one, other, stranger;
  };
  for (const auto& [one, other, stranger] :
       {Case{"私は東京に住んでいます", "東京の天気", "大阪の祭り"},
        Case{"我喜欢北京烤鸭", "北京的冬天", "他们在上海"},
        Case{"ฉันรักประเทศไทย", "ประเทศไทยร้อน", "สวัสดีครับ"}}) {
    INFO(one);
    CHECK(dot(encoder.encode(one), encoder.encode(other)) >= 1);
    CHECK(dot(encoder.encode(one), encoder.encode(stranger)) <=
          dot(encoder.encode(one), encoder.encode(other)) - 1 + 1e-6);
  }
}

TEST_CASE("Related words are nearer than unrelated ones") {
  const auto encoder = hashing();
  CHECK(cosine(encoder.encode("nationality"), encoder.encode("nationalities")) > 0.4);
  CHECK(std::abs(cosine(encoder.encode("nationality"), encoder.encode("umbrella"))) < 0.3);
}

TEST_CASE("Unrelated words are at right angles on average") {
  const auto encoder = hashing(R"({"dim": 64})");
  std::mt19937 random(1);
  constexpr int kTrials = 4000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto product =
        cosine(encoder.encode(random_word(random)), encoder.encode(random_word(random)));
    sum += product;
    squares += product * product;
  }
  const double error = std::sqrt(squares) / kTrials;
  CHECK(std::abs(sum / kTrials) < 4 * error);
}

TEST_CASE("Bigrams tell the order of words") {
  const std::string one = "dog bites man";
  const std::string other = "man bites dog";
  const auto without = hashing();
  CHECK(without.encode(one) == without.encode(other));
  const auto with = hashing(R"({"bigrams": true})");
  CHECK(with.encode(one) != with.encode(other));
}

TEST_CASE("Something must be hashed") {
  const auto message =
      opening_error(shipped("hashing"), R"({"words": false, "longest": 0, "bigrams": false})");
  CHECK(message.find("expected at least one") != std::string::npos);
}

TEST_CASE("A SentencePiece model cuts text for hashing") {
  const TestFolder folder;
  make_pieces_model(folder / "pieces.model");
  const auto encoder =
      hashing(R"({"longest": 0, "dim": 4096, "tokens": ")" + (folder / "pieces.model") + "\"}");
  CHECK(dot(encoder.encode("the river"), encoder.encode("the river")) >= 2);
  CHECK(encoder.encode("the river") != encoder.encode("the boats"));
  const auto bad = folder.write("bad.model", "this is not a model");
  for (const auto& path : {bad, folder / "none"}) {
    const auto message = opening_error(shipped("hashing"), R"({"tokens": ")" + path + "\"}");
    INFO(message);
    CHECK(message.find(path) != std::string::npos);
  }
}

}  // namespace phsic::tests
