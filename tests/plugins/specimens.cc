#include "tests/plugins/specimens.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/plugins/documented_encoder.h"

namespace phsic::tests {

const TestFolder& specimen_models() {
  static const TestFolder kFolder;
  static const bool kIsMade = [] {
    auto vectors = random_vectors(50, 6);
    vectors.words[0] = "the";
    vectors.words[1] = "river";
    kFolder.write("words.vec", vectors.as_text(true));
    make_fasttext_model(kFolder / "model.bin");
    make_fasttext_model(kFolder / "model.ftz", {.is_supervised = true, .is_quantised = true});
    make_pieces_model(kFolder / "pieces.model");
    build_documented_encoder(kFolder / "letters.so");
    return true;
  }();
  static_cast<void>(kIsMade);
  return kFolder;
}

namespace {

std::vector<Specimen> make_specimens() {
  const auto& folder = specimen_models();
  const std::vector<std::string> prose = {
      "The river carries boats.",
      "word3 word4 word3",
      "",
      "\t \n",
      "qqqq zzzz",
      "naïve Straße 東京",
      std::string("nul\0 inside the river", 21),
      "the \xff\xfe broken \xc3 river",
      "the",
      "A longer text: the river, the boats and the evening, word7 word8 word9 and so on."};
  const auto quoted = [](const std::string& path) { return nlohmann::json(path).dump(); };
  return {
      {"hashing", shipped("hashing"), R"({"dim": 256})", prose},
      {"hashing pieces", shipped("hashing"),
       R"({"dim": 64, "bigrams": true, "tokens": )" + quoted(folder / "pieces.model") + "}", prose},
      {"wordvec", shipped("wordvec"), R"({"file": )" + quoted(folder / "words.vec") + "}", prose},
      {"wordvec mean", shipped("wordvec"),
       R"({"weight": "mean", "cache": "off", "tokens": "whitespace", "file": )" +
           quoted(folder / "words.vec") + "}",
       prose},
      {"fasttext", shipped("fasttext"), R"({"file": )" + quoted(folder / "model.bin") + "}", prose},
      {"fasttext quantised", shipped("fasttext"),
       R"({"file": )" + quoted(folder / "model.ftz") + "}", prose},
      {"vectors",
       shipped("vectors"),
       R"({"dim": 3})",
       {"1 2 3", "[0.5, -1e3, 7]", "1;2;3", "  -0.1\t0.2\n0.3 "},
       false},
      {"the documented one", folder / "letters.so", "{}", prose},
  };
}

}  // namespace

const std::vector<Specimen>& all_specimens() {
  static const auto kSpecimens = make_specimens();
  return kSpecimens;
}

void for_each_specimen(const std::function<void(const Specimen&)>& check) {
  for (const auto& specimen : all_specimens()) {
    INFO(specimen.name);
    check(specimen);
  }
}

}  // namespace phsic::tests
