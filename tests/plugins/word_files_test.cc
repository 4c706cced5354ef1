// Files of word vectors that are wrong in every way.
#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/plugins/loaded_encoder.h"
#include "tests/plugins/model_files.h"

namespace phsic::tests {
namespace {

std::string wordvec_refusal(const std::string& file) {
  const nlohmann::json options = {{"file", file}, {"cache", "off"}};
  return opening_error(shipped("wordvec"), options.dump());
}

}  // namespace

TEST_CASE("A wrong text file is refused with line, found and expected") {
  const TestFolder folder;
  struct Case {
    std::string bytes, message;
  };
  const std::string range = "a number from -1e+28 to 1e+28";
  for (const auto& [bytes, message] : {
           Case{"", "1: found an empty file, expected word vectors"},
           Case{"\n", "1: found \"\", expected \"COUNT DIM\", or a word and its vector"},
           Case{"hello\n", "1: found \"hello\", expected \"COUNT DIM\", or a word and its vector"},
           Case{"2 0\na\nb\n", "1: found vectors of 0 values, expected 1 to 32768"},
           Case{"1 32769\na 1\n", "1: found vectors of 32769 values, expected 1 to 32768"},
           Case{"0 3\n", "1: found 0 words, expected 1 to 1, as many as the file has room for"},
           Case{"99999999999 300\na 1\n",
                "1: found 99999999999 words, expected 1 to 1, as many as the file has room for"},
           Case{"99999999999999999999999 3\na 1 2 3\n",
                "1: found 99999999999999999999999 words, expected 1 to 5, as many as the file has "
                "room for"},
           Case{"3 99999999999999999999999\na 1 2 3\n",
                "1: found vectors of 99999999999999999999999 values, expected 1 to 32768"},
           Case{"3 2\na 1 2\nb 3 4\n",
                "4: found the end of the file after 2 words, expected the 3 words of line 1"},
           Case{"1 2\na 1 2\nb 3 4\n",
                "3: found more after 1 words, expected the 1 words of line 1"},
           Case{"2 2\na 1 2\nb 3\n", "3: found 1 values, expected a word and 2 values"},
           Case{"2 2\na 1 2\nb 3 4 5\n",
                "3: found at least 3 values, expected a word and 2 values"},
           Case{"a 1 2\nb 3\n", "2: found 1 values, expected a word and 2 values"},
           Case{"a 1 2\nb 3 4 5\n", "2: found at least 3 values, expected a word and 2 values"},
           Case{"2 2\n 1 2\nb 3 4\n",
                "2: found no word before the values, expected a word and 2 values"},
           Case{"2 2\na 1 2\n\nb 3 4\n", "3: found an empty line, expected a word and 2 values"},
           Case{"2 2\na 1 2\nb 3 x\n", "3: found \"x\" as value 2 of 2, expected " + range},
           Case{"2 2\na nan 2\nb 3 4\n", "2: found \"nan\" as value 1 of 2, expected " + range},
           Case{"2 2\na 1 2\nb -inf 4\n", "3: found \"-inf\" as value 1 of 2, expected " + range},
           Case{"2 2\na 1 2\nb 1e29 4\n", "3: found \"1e29\" as value 1 of 2, expected " + range},
           Case{"2 2\na 1 2\nb 1e999 4\n", "3: found \"1e999\" as value 1 of 2, expected " + range},
           Case{"a 1 2\nb 1 2e\n", "2: found \"2e\" as value 2 of 2, expected " + range},
           Case{"word this is prose\n", "1: found \"this\" as value 1 of 3, expected " + range},
           Case{"\xba\x16\x4f\x2f\x0c",
                "1: found a fastText model, expected a file of word vectors; the encoder fasttext "
                "reads such models"},
       }) {
    const auto file = folder.write("words", bytes);
    CHECK(wordvec_refusal(file) == std::string(file).append(":").append(message));
  }
}

TEST_CASE("A vector longer than the largest dimension is refused") {
  const TestFolder folder;
  std::string line = "word";
  for (int i = 0; i < 32769; ++i) line += " 1";
  const auto file = folder.write("words", line);
  CHECK(wordvec_refusal(file) == file + ":1: found a vector of 32769 values, expected 1 to 32768");
}

TEST_CASE("A line without end is refused before it fills the memory") {
  const TestFolder folder;
  const auto file = folder.write("words", std::string(5 << 20, 'x'));
  CHECK(wordvec_refusal(file) ==
        file + ": byte 0: found a line of more than 4194304 bytes, expected a shorter one");
}

TEST_CASE("A wrong binary file is refused with byte, found and expected") {
  const TestFolder folder;
  const auto vectors = random_vectors(3, 4);
  const auto bytes = vectors.as_binary(false);
  const auto check = [&](const std::string& wrong, const std::string& message) {
    const auto file = folder.write("words", wrong);
    CHECK(wordvec_refusal(file) == file + ": byte " + message);
  };
  check(bytes.substr(0, bytes.size() - 1),
        "48: found the end of the file in the vector of word 3 of 3, expected 4 values");
  check(bytes.substr(0, 51), "48: found no word after 2 words, expected the 3 words of line 1");
  check(bytes + "word", "70: found more after 3 words, expected the 3 words of line 1");
  auto not_finite = vectors;
  not_finite.vectors[1][2] = std::numeric_limits<float>::quiet_NaN();
  check(not_finite.as_binary(false),
        "26: found nan as value 3 of word \"word1\", expected a number from -1e+28 to 1e+28");
}

TEST_CASE("Every truncation of a file with a header is refused") {
  const EncoderLibrary keep(shipped("wordvec"));  // loaded, for speed
  const TestFolder folder;
  const auto vectors = random_vectors(4, 3);
  for (const auto& bytes : {vectors.as_binary(true), gzip(vectors.as_text(true)),
                            gzip(vectors.as_text(false)), gzip(vectors.as_binary(false))}) {
    // Without the very last byte a binary file only lacks a line end.
    for (std::size_t size = 0; size + 1 < bytes.size(); ++size) {
      INFO(size);
      const auto file = folder.write("words", bytes.substr(0, size));
      REQUIRE(wordvec_refusal(file).find(file) == 0);
    }
  }
  // A text that is cut within its last number goes unnoticed, but one that is cut before does not.
  const auto text = vectors.as_text(true);
  for (std::size_t size = 0; size < text.rfind(' ') + 1; ++size) {
    REQUIRE(!wordvec_refusal(folder.write("words", text.substr(0, size))).empty());
  }
}

TEST_CASE("Damaged gzip data is refused") {
  const TestFolder folder;
  auto bytes = gzip(random_vectors(50, 5).as_text(true));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  const auto file = folder.write("words.gz", bytes);
  CHECK(wordvec_refusal(file).find(file) == 0);
}

TEST_CASE("What is no regular file is refused") {
  const TestFolder folder;
  CHECK(wordvec_refusal(folder.path()).find("no regular file") != std::string::npos);
  CHECK(wordvec_refusal("/dev/null").find("no regular file") != std::string::npos);
}

TEST_CASE("Random bytes are refused") {
  const EncoderLibrary keep(shipped("wordvec"));
  const TestFolder folder;
  std::mt19937 random(9);
  for (int trial = 0; trial < 200; ++trial) {
    std::string bytes(random() % 300, ' ');
    for (char& c : bytes) c = static_cast<char>(random());
    if (trial % 2 == 0) bytes.insert(0, "5 7\n");
    REQUIRE(!wordvec_refusal(folder.write("words", bytes)).empty());
  }
}

}  // namespace phsic::tests
