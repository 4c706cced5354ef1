// Explanations as JSON: what one end writes the other reads, and reads nothing else.
#include "wire/explanation_json.h"

#include <catch2/catch.hpp>

#include "core/error.h"

namespace phsic::test {
namespace {

// An answer of these grounds.
Message answer_of(const PairExplanation& explanation) {
  std::string text = "{\"ok\":true";
  append_grounds(explanation, text);
  return Message(text + '}');
}

PairExplanation explained() {
  PairExplanation explanation;
  auto& words = explanation.words.emplace();
  words.x.raise = {{0.5, 3, "how\"\n"}, {0.25, 0, "你"}};
  words.x.lower = {{-0.125, 1, "are"}};
  words.x.count = 90;
  words.x.unexamined = 26;
  words.y.count = 1;
  explanation.expert = {"cut_off(right)",
                        "the end of y is missing",
                        -1.5,
                        {{-0.75, -2.5, "words: score", "the score"}, {-0.5, 6, "y_words", "y"}}};
  return explanation;
}

void check_side(const SideWords& found, const SideWords& expected) {
  const auto check = [](const auto& ours, const auto& theirs) {
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      CHECK(ours[i].contribution == theirs[i].contribution);
      CHECK(ours[i].place == theirs[i].place);
      CHECK(ours[i].word == theirs[i].word);
    }
  };
  CHECK(found.count == expected.count);
  CHECK(found.unexamined == expected.unexamined);
  check(found.raise, expected.raise);
  check(found.lower, expected.lower);
}

TEST_CASE("Words and an expert's opinion are read as they were written") {
  const auto written = explained();
  const auto answer = answer_of(written);
  const auto words = read_words(answer.root());
  REQUIRE(words);
  check_side(words->x, written.words->x);
  check_side(words->y, written.words->y);
  const auto expert = read_expert(answer.root());
  REQUIRE(expert);
  CHECK(expert->damage == written.expert->damage);
  CHECK(expert->about == written.expert->about);
  CHECK(expert->log_odds == written.expert->log_odds);
  REQUIRE(expert->components.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& [contribution, deviations, name, about] = written.expert->components[i];
    CHECK(expert->components[i].contribution == contribution);
    CHECK(expert->components[i].deviations == deviations);
    CHECK(expert->components[i].name == name);
    CHECK(expert->components[i].about == about);
  }
}

TEST_CASE("What is not there is not written, and not read") {
  const auto answer = answer_of(PairExplanation());
  CHECK(answer.answer() == R"({"raise":[],"lower":[]})");
  CHECK_FALSE(read_words(answer.root()));
  CHECK_FALSE(read_expert(answer.root()));
}

TEST_CASE("Texts that are not UTF-8 are written as UTF-8") {
  auto explanation = explained();
  explanation.words->x.raise[0].word = "a\xff";
  explanation.raise = {{0.5, 1, "\xc3", "b", ""}};
  CHECK(read_words(answer_of(explanation).root())->x.raise[0].word == "a\uFFFD");
}

TEST_CASE("Words and experts that are not as documented are refused") {
  for (const char* words :
       {R"(3)", R"({})", R"({"x":{"count":1,"raise":[],"lower":[]}})",
        R"({"x":{"raise":[],"lower":[]},"y":{"count":1,"raise":[],"lower":[]}})",
        R"({"x":{"count":1,"unexamined":2,"raise":[],"lower":[]},)"
        R"("y":{"count":1,"raise":[],"lower":[]}})",
        R"({"x":{"count":1,"raise":[{"contribution":1,"word":"a","place":1}],"lower":[]},)"
        R"("y":{"count":1,"raise":[],"lower":[]}})",
        R"({"x":{"count":1,"raise":[7],"lower":[]},"y":{"count":1,"raise":[],"lower":[]}})",
        R"({"x":{"count":1,"raise":[],"lower":[{"contribution":null,"word":"a","place":0}]},)"
        R"("y":{"count":1,"raise":[],"lower":[]}})"}) {
    CAPTURE(words);
    const Message answer(std::string(R"({"words":)") + words + '}');
    CHECK_THROWS_AS(read_words(answer.root()), Error);
  }
  for (const char* expert :
       {R"([])", R"({"damage":"a","about":"b","log_odds":"c","components":[]})",
        R"({"damage":"a","about":"b","log_odds":1})",
        R"({"damage":"a","about":"b","log_odds":1,"components":[{"contribution":1}]})"}) {
    CAPTURE(expert);
    const Message answer(std::string(R"({"expert":)") + expert + '}');
    CHECK_THROWS_AS(read_expert(answer.root()), Error);
  }
}

}  // namespace
}  // namespace phsic::test
