#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/plugins/documented_encoder.h"
#include "tests/plugins/loaded_encoder.h"
#include "tests/plugins/model_files.h"

namespace phsic::tests {

TEST_CASE("docs/encoders.md has every option of every encoder with its default") {
  const auto document = encoders_document();
  for (const std::string name : {"fasttext", "hashing", "vectors", "wordvec"}) {
    const auto begin = document.find("\n## " + name + "\n");
    REQUIRE(begin != std::string::npos);
    const auto section = document.substr(begin, document.find("\n## ", begin + 1) - begin);
    const EncoderLibrary library(shipped(name));
    std::size_t count = 0;
    for (const auto& option : nlohmann::json::parse(library.plugin().options)) {
      const auto& value = option.at("default");
      std::ostringstream row;
      row << "| `" << option.at("name").get<std::string>() << "` | ";
      if (value.is_null()) {
        row << "required |";
      } else {
        row << "`" << value.dump() << "` |";
      }
      INFO(name << ": " << row.str());
      CHECK(section.find(row.str()) != std::string::npos);
      ++count;
    }
    std::size_t rows = 0;
    for (auto at = section.find("\n| `"); at != std::string::npos;
         at = section.find("\n| `", at + 1)) {
      ++rows;
    }
    CHECK(rows == count);
  }
}

TEST_CASE("The encoder of docs/encoders.md counts letters") {
  const TestFolder folder;
  build_documented_encoder(folder / "letters.so");
  const LoadedEncoder encoder(folder / "letters.so", "{}");
  CHECK(encoder.identity() == "letters 1");
  Row expected(26);
  expected[0] = 3;
  expected[1] = expected[25] = 1;
  CHECK(encoder.encode("A-b, aaz!") == expected);
}

}  // namespace phsic::tests
