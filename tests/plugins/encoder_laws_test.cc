// What every encoder obeys, the shipped ones and the one that docs/encoders.md teaches to write.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/core/reduced.h"
#include "tests/plugins/loaded_encoder.h"
#include "tests/plugins/model_files.h"
#include "tests/plugins/specimens.h"

namespace phsic::tests {
namespace {

bool is_finite(const Row& row) {
  return std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); });
}

// NaN is unequal to itself, so this finds NaN, too.
void require_same(const std::vector<Row>& a, const std::vector<Row>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO("row " << i);
    REQUIRE(a[i] == b[i]);
  }
}

// Characters of many scripts, a third of them white space or signs.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kCharacters = {
      "a", "B",  "é",      "e\u0301", "ß",  "7",      ".", "'", ",", "-",    "@",  "_",
      "Ж", "東", "京",     "の",      "カ", "ไ",      "ท", "ย", "क", "ि",    "א",  "\"",
      "ﬁ", "😀",  "\u200d", "\u0301",  "³",  "\u1950", "¨", "🇩", "🇪", "\xff", "\n", "\u00a0"};
  std::string text;
  for (auto left = random() % 24; left > 0; --left) {
    text += random() % 4 == 0 ? " " : kCharacters[random() % kCharacters.size()];
  }
  return text;
}

// How many of the texts, cut in two at white space, have a row that is not the sum of their parts'
// rows.
std::size_t count_sums_that_differ(const LoadedEncoder& encoder,
                                   const std::vector<std::string>& texts) {
  constexpr float kRounding = 1e-5F;
  std::mt19937 random(17);
  const std::vector<std::string> spaces = {" ", "\n", "\u3000"};
  const auto any_text = [&] {
    return random() % 2 == 0 ? random_text(random) : texts[random() % texts.size()];
  };
  std::size_t differ = 0;
  for (int trial = 0; trial < 2'000; ++trial) {
    const auto one = any_text();
    const auto other = any_text();
    const auto rows = encoder.encode({one + spaces[random() % spaces.size()] + other, one, other});
    for (std::size_t d = 0; d < rows[0].size(); ++d) {
      if (std::abs(rows[0][d] - (rows[1][d] + rows[2][d])) <= kRounding) continue;
      ++differ;
      break;
    }
  }
  return differ;
}

}  // namespace

TEST_CASE("An encoder describes itself") {
  for_each_specimen([](const Specimen& specimen) {
    const auto encoder = specimen.open();
    const auto& plugin = encoder.plugin();
    CHECK(plugin.struct_size == sizeof(phsic_encoder_plugin));
    CHECK(std::string(plugin.name).size() > 2);
    CHECK(!std::string(plugin.version).empty());
    CHECK(!std::string(plugin.summary).empty());
    const auto options = nlohmann::json::parse(plugin.options);
    REQUIRE(options.is_array());
    for (const auto& option : options) {
      CHECK(option.at("name").is_string());
      CHECK(option.contains("default"));
      CHECK(option.at("about").is_string());
    }
    const auto facts = encoder.facts();
    CHECK(facts.dimension >= 1);
    CHECK(facts.dimension <= PHSIC_MAX_DIMENSION);
    CHECK(facts.layout <= PHSIC_SPARSE);
    CHECK((facts.flags & ~std::uint32_t{PHSIC_ADDITIVE}) == 0);
    CHECK(encoder.identity().find(plugin.name) == 0);
  });
}

TEST_CASE("A text has the same vector in any batch and with any buffers") {
  for_each_specimen([](const Specimen& specimen) {
    const auto encoder = specimen.open();
    std::vector<Row> alone;
    for (const auto& text : specimen.texts) alone.push_back(encoder.encode(text));
    for (const auto& row : alone) REQUIRE(is_finite(row));
    const std::size_t dim = encoder.dimension();
    for (const std::size_t capacity : {dim, dim + 1, 2 * dim + 3, 100 * dim}) {
      require_same(encoder.encode(specimen.texts, capacity), alone);
    }
    auto reversed = specimen.texts;
    std::reverse(reversed.begin(), reversed.end());
    std::reverse(alone.begin(), alone.end());
    require_same(encoder.encode(reversed), alone);
  });
}

TEST_CASE("Two instances with the same options are the same") {
  for_each_specimen([](const Specimen& specimen) {
    const auto one = specimen.open();
    const auto other = specimen.open();
    CHECK(one.identity() == other.identity());
    require_same(one.encode(specimen.texts), other.encode(specimen.texts));
  });
}

TEST_CASE("A text without anything known is a row of zeros") {
  for_each_specimen([](const Specimen& specimen) {
    if (!specimen.takes_any_text) return;
    const auto encoder = specimen.open();
    for (const std::string text : {"", " ", "\n\t"}) {
      CHECK(encoder.encode(text) == Row(encoder.dimension()));
    }
  });
}

TEST_CASE("Rows add up where the encoder says so") {
  std::vector<std::string> additive;
  for_each_specimen([&](const Specimen& specimen) {
    const auto encoder = specimen.open();
    if ((encoder.facts().flags & PHSIC_ADDITIVE) == 0) return;
    CHECK(count_sums_that_differ(encoder, specimen.texts) == 0);
    additive.push_back(specimen.name);
  });
  CHECK(additive == std::vector<std::string>{"hashing", "the documented one"});
}

TEST_CASE("hashing says that rows add up where its words depend on nothing beyond white space") {
  const auto pieces = nlohmann::json(specimen_models() / "pieces.model").dump();
  const std::vector<std::string> texts = {"the river", "The boats are at sea.", ""};
  struct Choice {
    std::string options;
    bool is_additive;
  };
  for (const auto& [options, is_additive] : std::vector<Choice>{
           {R"({"dim": 128})", true},
           {R"({"dim": 128, "fold": false})", true},
           {R"({"dim": 128, "tokens": "whitespace", "words": false})", true},
           {R"({"dim": 128, "tokens": "whitespace", "fold": false, "longest": 0})", true},
           {R"({"dim": 128, "bigrams": true})", false},
           {R"({"dim": 128, "tokens": )" + pieces + "}", false}}) {
    INFO(options);
    const LoadedEncoder encoder(shipped("hashing"), options);
    CHECK((encoder.facts().flags == PHSIC_ADDITIVE) == is_additive);
    if (is_additive) CHECK(count_sums_that_differ(encoder, texts) == 0);
  }
  // The law does reject what does not add up.
  CHECK(count_sums_that_differ({shipped("hashing"), R"({"dim": 128, "bigrams": true})"}, texts) >
        500);
}

TEST_CASE("Any bytes are encoded or refused with a reason") {
  std::mt19937 random(11);
  for_each_specimen([&](const Specimen& specimen) {
    const auto encoder = specimen.open();
    for (int trial = 0; trial < 300; ++trial) {
      std::string text(random() % 60, '\0');
      for (char& c : text) c = static_cast<char>(random());
      const auto outcome = encoder.encode_once({text});
      if (outcome.status == PHSIC_OK) {
        REQUIRE(is_finite(outcome.rows.at(0)));
      } else {
        REQUIRE(!specimen.takes_any_text);
        REQUIRE(outcome.status == PHSIC_BAD_TEXT);
        REQUIRE(!outcome.error.empty());
        // Whatever was in the text, the message can be printed.
        REQUIRE(std::all_of(outcome.error.begin(), outcome.error.end(),
                            [](char c) { return c >= ' ' && c <= '~'; }));
      }
    }
  });
}

TEST_CASE("Megabytes of text are encoded or refused") {
  constexpr std::size_t kSize = test::reduced(10'000'000, 10);
  std::string word;
  word.resize(kSize, 'a');
  std::string words;
  while (words.size() < kSize) words += "the river word7 naïve 3.5, ";
  for_each_specimen([&](const Specimen& specimen) {
    const auto encoder = specimen.open();
    for (const auto& text : {word, words}) {
      const auto outcome = encoder.encode_once({text});
      if (outcome.status == PHSIC_OK) {
        REQUIRE(is_finite(outcome.rows.at(0)));
      } else {
        REQUIRE(!specimen.takes_any_text);
        REQUIRE(outcome.status == PHSIC_BAD_TEXT);
      }
    }
  });
}

TEST_CASE("A message is cut to its buffer") {
  for_each_specimen([](const Specimen& specimen) {
    const EncoderLibrary library(specimen.library);
    for (const std::size_t size : {1, 2, 10}) {
      std::vector<char> error(size + 1, '#');
      CHECK(library.plugin().open("nonsense", error.data(), size) == nullptr);
      CHECK(std::count(error.begin(), error.end() - 1, '\0') >= 1);
      CHECK(error.back() == '#');
    }
  });
}

TEST_CASE("Options that are none are refused") {
  for (const auto& specimen : all_specimens()) {
    INFO(specimen.name);
    for (const std::string options : {"", "[]", "3", "{", "{\"a\"", "nonsense"}) {
      CHECK(!opening_error(specimen.library, options).empty());
    }
  }
}

TEST_CASE("A shipped encoder names its options when it is given another") {
  for (const std::string name : {"fasttext", "hashing", "vectors", "wordvec"}) {
    INFO(name);
    const auto message = opening_error(shipped(name), R"({"nonsuch": 1})");
    CHECK(message.find("nonsuch") != std::string::npos);
    const EncoderLibrary library(shipped(name));
    for (const auto& option : nlohmann::json::parse(library.plugin().options)) {
      CHECK(message.find(option.at("name").get<std::string>()) != std::string::npos);
    }
  }
}

TEST_CASE("A shipped encoder names the option that has the wrong type or value") {
  for (const auto& specimen : all_specimens()) {
    if (specimen.name == "the documented one") continue;
    INFO(specimen.name);
    const EncoderLibrary library(specimen.library);
    for (const auto& option : nlohmann::json::parse(library.plugin().options)) {
      const auto name = option.at("name").get<std::string>();
      for (const auto& wrong : {nlohmann::json::array(), nlohmann::json(-1e300)}) {
        auto options = nlohmann::json::parse(specimen.options);
        options[name] = wrong;
        const auto message = opening_error(specimen.library, options.dump());
        INFO(message);
        CHECK(message.find("option " + name) != std::string::npos);
        CHECK(message.find("expected") != std::string::npos);
      }
    }
  }
}

TEST_CASE("Each option that matters is in the identity") {
  const auto& folder = specimen_models();
  const auto file = [&](const char* name) { return (folder / name); };
  auto more = random_vectors(50, 6);
  more.vectors[0][0] += 1;
  const auto other_words = folder.write("other.vec", more.as_text(true));
  struct Change {
    std::string encoder;
    nlohmann::json base;
    std::vector<nlohmann::json> changes;
  };
  using nlohmann::json;
  const json pieces = file("pieces.model");
  const std::vector<Change> cases = {
      {"hashing",
       json::object(),
       {{{"dim", 512}},
        {{"words", false}},
        {{"shortest", 2}},
        {{"longest", 4}},
        {{"bigrams", true}},
        {{"tokens", "whitespace"}},
        {{"tokens", pieces}},
        {{"fold", false}},
        {{"seed", 1}}}},
      {"wordvec",
       {{"file", file("words.vec")}},
       {{{"file", other_words}},
        {{"weight", "sum"}},
        {{"limit", 7}},
        {{"tokens", pieces}},
        {{"case", "keep"}},
        {{"case", "fold"}}}},
      {"fasttext",
       {{"file", file("model.bin")}},
       {{{"file", file("model.ftz")}},
        {{"weight", "mean"}},
        {{"tokens", "whitespace"}},
        {{"case", "fold"}}}},
      {"vectors", {{"dim", 3}}, {{{"dim", 4}}}},
  };
  for (const auto& [name, base, changes] : cases) {
    std::vector<std::string> identities = {LoadedEncoder(shipped(name), base.dump()).identity()};
    for (const auto& change : changes) {
      auto options = base;
      options.update(change);
      identities.push_back(LoadedEncoder(shipped(name), options.dump()).identity());
    }
    std::sort(identities.begin(), identities.end());
    CHECK(std::adjacent_find(identities.begin(), identities.end()) == identities.end());
  }
}

}  // namespace phsic::tests
