#include "plugins/recent_words.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/plugins/loaded_encoder.h"

namespace phsic::tests {
namespace {

using plugins::RecentWords;
using plugins::SharedTokenizer;

text::Tokenizer tokenizer(const std::string& cut = "icu",
                          text::Signs signs = text::Signs::kDropped) {
  return {cut, text::Normalization::kNfkcCasefold, signs};
}

std::vector<std::string> words_of(RecentWords& recent, std::uint64_t cut,
                                  const text::Tokenizer& tokenizer, const std::string& text) {
  const auto found = recent.split(cut, tokenizer, text);
  std::vector<std::string> words;
  for (std::size_t k = 0; k < found.size(); ++k) words.emplace_back(found.word(k));
  return words;
}

std::vector<std::string> words_of(const text::Tokenizer& tokenizer, const std::string& text) {
  text::Tokens tokens;
  tokenizer.split(text, tokens);
  std::vector<std::string> words;
  for (std::size_t k = 0; k < tokens.size(); ++k) words.emplace_back(tokens.word(k));
  return words;
}

// Some of them often, some longer than others.
std::vector<std::string> many_texts(std::size_t count) {
  static const std::vector<std::string> kWords = {"river", "STONE,", "東京の", "½", "\xff", "it's"};
  std::mt19937 random(3);
  std::vector<std::string> texts = {""};
  while (texts.size() < count) {
    std::string text;
    for (auto left = random() % (random() % 50 == 0 ? 3'000 : 8); left > 0; --left) {
      text += kWords[random() % kWords.size()] + ' ';
    }
    texts.push_back(random() % 3 == 0 ? texts[random() % texts.size()] : std::move(text));
  }
  return texts;
}

}  // namespace

TEST_CASE("A text that tokenizers cut alike is cut once") {
  const auto one = tokenizer();
  const auto other = tokenizer("icu", text::Signs::kKept);
  RecentWords recent;
  CHECK(words_of(recent, 1, one, "By the river!") == words_of(one, "By the river!"));
  CHECK(words_of(recent, 1, one, "By the river!") == words_of(one, "By the river!"));
  CHECK(recent.misses() == 1);
  for (std::uint64_t number = 2; number < 5'000; ++number) {
    words_of(recent, 1, one, "By the river!");
    REQUIRE(words_of(recent, number, other, "By the river!") == words_of(other, "By the river!"));
  }
}

TEST_CASE("A batch is still known when the next view encodes it") {
  const auto cut = tokenizer();
  RecentWords recent;
  constexpr std::size_t kBatch = 512;  // both sides
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kBatch; ++i) texts.push_back("text number " + std::to_string(i));
  for (const auto& text : texts) words_of(recent, 1, cut, text);
  for (const auto& text : texts) words_of(recent, 1, cut, text);
  CHECK(recent.misses() < kBatch * 3 / 2);
}

TEST_CASE("Whatever was cut before, the words are those of the tokenizer") {
  const auto dropped = tokenizer();
  const auto kept = tokenizer("icu", text::Signs::kKept);
  RecentWords recent;
  for (const auto& text : many_texts(6'000)) {
    REQUIRE(words_of(recent, 1, dropped, text) == words_of(dropped, text));
    REQUIRE(words_of(recent, 2, kept, text) == words_of(kept, text));
  }
  REQUIRE(recent.misses() < 12'000);
}

TEST_CASE("Words are remembered as long as another tokenizer cuts alike") {
  const SharedTokenizer one(tokenizer());
  CHECK_FALSE(one.is_shared());
  {
    const SharedTokenizer like(tokenizer());
    const SharedTokenizer unlike(tokenizer("whitespace"));
    CHECK(one.is_shared());
    CHECK(like.is_shared());
    CHECK_FALSE(unlike.is_shared());
  }
  CHECK_FALSE(one.is_shared());
}

TEST_CASE("An encoder gives the same rows beside another one that cuts alike") {
  const auto texts = many_texts(300);
  std::vector<Row> alone;
  {
    const LoadedEncoder encoder(shipped("hashing"), "{}");
    alone = encoder.encode(texts);
  }
  const LoadedEncoder other(shipped("hashing"), R"({"dim":64,"seed":2})");
  const LoadedEncoder encoder(shipped("hashing"), "{}");
  const auto others = other.encode(texts);
  CHECK(encoder.encode(texts) == alone);
  CHECK(other.encode(texts) == others);
}

}  // namespace phsic::tests
