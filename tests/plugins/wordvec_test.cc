#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/plugins/loaded_encoder.h"
#include "tests/plugins/model_files.h"

namespace phsic::tests {
namespace {

LoadedEncoder wordvec(const std::string& file, nlohmann::json options = nlohmann::json::object()) {
  options["file"] = file;
  if (!options.contains("cache")) options["cache"] = "off";
  if (!options.contains("weight")) options["weight"] = "mean";
  return {shipped("wordvec"), options.dump()};
}

// Reads a file of one-word lines in the plainest way and adds up words that blanks separate.
class Oracle {
 public:
  explicit Oracle(const std::string& text) {
    std::istringstream in(text);
    std::size_t count = 0;
    in >> count >> dim_;
    for (std::string word; in >> word;) {
      std::vector<double> vector(dim_);
      for (double& value : vector) in >> value;
      ranks_.emplace(word, ranks_.size() + 1);
      vectors_.emplace(word, vector);
    }
    for (std::size_t rank = 1; rank <= ranks_.size(); ++rank) {
      zipf_ += 1.0 / static_cast<double>(rank);
    }
  }

  [[nodiscard]] std::vector<double> encode(const std::string& text,
                                           const std::string& weight) const {
    std::vector<double> sum(dim_);
    std::istringstream in(text);
    double known = 0;
    for (std::string word; in >> word;) {
      const auto found = vectors_.find(word);
      if (found == vectors_.end()) continue;
      ++known;
      const double p = 1 / (static_cast<double>(ranks_.at(word)) * zipf_);
      const double w = weight == "sif" ? 0.001 / (0.001 + p) : 1;
      for (std::size_t d = 0; d < dim_; ++d) sum[d] += w * found->second[d];
    }
    if (weight != "sum" && known > 0) {
      for (double& value : sum) value /= known;
    }
    return sum;
  }

 private:
  std::size_t dim_ = 0;
  double zipf_ = 0;
  std::map<std::string, std::size_t> ranks_;
  std::map<std::string, std::vector<double>> vectors_;
};

}  // namespace

TEST_CASE("Sums, means and SIF are those of a plain reader") {
  const TestFolder folder;
  const auto text = random_vectors(3000, 17).as_text(true);
  const auto file = folder.write("words.vec", text);
  const Oracle oracle(text);
  std::mt19937 random(2);
  for (const std::string weight : {"sum", "mean", "sif"}) {
    const auto encoder = wordvec(file, {{"weight", weight}});
    for (int trial = 0; trial < 100; ++trial) {
      std::string words;
      for (auto k = random() % 30; k > 0; --k)
        words += "word" + std::to_string(random() % 4000) + " ";
      const auto expected = oracle.encode(words, weight);
      const auto found = encoder.encode(words);
      for (std::size_t d = 0; d < expected.size(); ++d) {
        REQUIRE(found[d] == Approx(expected[d]).margin(1e-5));
      }
    }
  }
}

TEST_CASE("All formats of one model give the same vectors") {
  const TestFolder folder;
  const auto vectors = random_vectors(200, 33);
  const std::vector<std::string> texts = {"word0", "word7 word199", "word5 word5 none"};
  const auto expected = wordvec(folder.write("model", vectors.as_text(true))).encode(texts);
  auto with_returns = vectors.as_text(true);
  for (std::size_t at = 0; (at = with_returns.find('\n', at)) != std::string::npos; at += 2) {
    with_returns.replace(at, 1, "\r\n");
  }
  auto with_tabs = vectors.as_text(false);
  std::replace(with_tabs.begin(), with_tabs.end(), ' ', '\t');
  auto without_last_end = vectors.as_text(true);
  without_last_end.pop_back();
  for (const auto& bytes :
       {vectors.as_text(false), vectors.as_binary(true), vectors.as_binary(false),
        vectors.as_text(true) + "\n \n", with_returns, with_tabs, without_last_end}) {
    CHECK(wordvec(folder.write("model", bytes)).encode(texts) == expected);
    CHECK(wordvec(folder.write("model", gzip(bytes))).encode(texts) == expected);
  }
}

TEST_CASE("A binary model of few dimensions is told from text") {
  const TestFolder folder;
  for (const std::size_t dim : {1, 2, 3, 5}) {
    const auto vectors = random_vectors(20, dim);
    const auto encoder = wordvec(folder.write("model", vectors.as_binary(dim % 2 == 0)));
    CHECK(encoder.encode("word3") == vectors.vectors[3]);
  }
}

TEST_CASE("Words may have blanks in them, as GloVe's have") {
  const TestFolder folder;
  const auto file = folder.write("glove", "the 1 2\n. . . 3 4\nat name@domain.com 5 6\n7 8 9\n");
  const auto encoder = wordvec(file, {{"tokens", "whitespace"}});
  CHECK(encoder.dimension() == 2);
  CHECK(encoder.encode("the") == Row{1, 2});
  CHECK(encoder.encode("7") == Row{8, 9});
  CHECK(encoder.encode(".") == Row{0, 0});
}

TEST_CASE("The first of equal words counts") {
  const TestFolder folder;
  const auto file = folder.write("words", "3 1\na 1\na 2\nb 3\n");
  CHECK(wordvec(file).encode("a b") == Row{2});
  // Equal in their normal form.
  const auto forms = folder.write("forms", "2 1\ncafe\u0301 1\ncafé 2\n");
  CHECK(wordvec(forms).encode("café") == Row{1});
}

TEST_CASE("A limit takes the first words only and does not read on") {
  const TestFolder folder;
  const auto file = folder.write("words", "4 1\na 1\nb 2\nc 3\nbroken x\n");
  const auto encoder = wordvec(file, {{"limit", 2}, {"weight", "sum"}});
  CHECK(encoder.encode("a b c") == Row{3});
}

TEST_CASE("Signs are words, and cut those that are not known as a whole") {
  const TestFolder folder;
  const auto file = folder.write("words", "it 1\n' 2\ns 4\n, 8\ndon't 16\n。 32\n");
  const auto encoder = wordvec(file, {{"weight", "sum"}});
  CHECK(encoder.encode("It's,") == Row{15});
  CHECK(encoder.encode("don't") == Row{16});
  CHECK(encoder.encode("doesn't it?") == Row{3});
  CHECK(encoder.encode("it。") == Row{33});
}

TEST_CASE("Words are found in the case that the file has") {
  const TestFolder folder;
  const auto file = folder.write(
      "words", "polish 1\nPolish 2\nParis 3\nNASA 4\nthe 5\nécole 6\nÉmile 7\nΣΊΣΥΦΟΣ 8\n");
  const std::map<std::string, std::map<std::string, float>> expected = {
      {"fallback",
       {{"polish", 1},
        {"Polish", 2},
        {"POLISH", 1},
        {"paris", 3},
        {"PARIS", 3},
        {"nasa", 4},
        {"Nasa", 4},
        {"THE", 5},
        {"École", 6},
        {"émile", 7},
        {"σίσυφοσ", 8}}},
      {"keep", {{"polish", 1}, {"Polish", 2}, {"POLISH", 0}, {"paris", 0}, {"THE", 0}}},
      {"fold", {{"Polish", 1}, {"Paris", 0}, {"THE", 5}, {"ＴＨＥ", 5}, {"ÉCOLE", 6}}},
  };
  for (const auto& [rule, cases] : expected) {
    const auto encoder = wordvec(file, {{"case", rule}});
    for (const auto& [word, value] : cases) {
      INFO(rule << " " << word);
      CHECK(encoder.encode(word) == Row{value});
    }
  }
}

TEST_CASE("A word with broken UTF-8 is kept and read as texts are") {
  const TestFolder folder;
  const auto file = folder.write("words", "2 1\nca\xff 1\nok 2\n");
  const auto encoder = wordvec(file, {{"tokens", "whitespace"}});
  CHECK(encoder.encode("ok") == Row{2});
  CHECK(encoder.encode("ca\xff") == Row{1});
}

TEST_CASE("A SentencePiece model cuts text for wordvec") {
  const TestFolder folder;
  make_pieces_model(folder / "pieces.model");
  const auto file = folder.write("words", "2 2\n▁the 1 2\n▁river 3 4\n");
  const auto encoder = wordvec(file, {{"tokens", folder / "pieces.model"}, {"weight", "sum"}});
  CHECK(encoder.encode("the") == Row{1, 2});
  CHECK(encoder.encode("the the") == Row{2, 4});
}

TEST_CASE("An option out of its range is refused") {
  const auto refusal = [](const std::string& options) {
    return opening_error(shipped("wordvec"), options);
  };
  CHECK(refusal("{}") == "option file is missing, expected file=TEXT");
  CHECK(refusal(R"({"file": "x", "weight": "tfidf"})") ==
        "option weight is \"tfidf\", expected one of sum, mean, sif");
  CHECK(refusal(R"({"file": "x", "cache": ""})") ==
        "option cache is \"\", expected auto, off or a folder");
  CHECK(refusal(R"({"file": "/nonexistent/words"})") ==
        "/nonexistent/words: No such file or directory");
  CHECK(refusal(R"({"file": "none.vec"})") ==
        "none.vec: No such file or directory (looked for in " +
            std::filesystem::current_path().string() + ")");
}

}  // namespace phsic::tests
