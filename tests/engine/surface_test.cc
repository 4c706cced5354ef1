#include "engine/surface.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"

namespace phsic::test {
namespace {

using Components = std::array<double, kSurfaceComponents>;

const text::Tokenizer& tokenizer() {
  static const auto kTokenizer = make_surface_tokenizer();
  return kTokenizer;
}

TextSketch sketch_of(std::string_view text) {
  TextSketch sketch;
  sketch.read(text, tokenizer());
  return sketch;
}

std::size_t place_of(std::string_view name) {
  const auto found = std::find_if(kSurfaceTable.begin(), kSurfaceTable.end(),
                                  [&](const SurfaceComponent& row) { return row.name == name; });
  REQUIRE(found != kSurfaceTable.end());
  return static_cast<std::size_t>(found - kSurfaceTable.begin());
}

Components components_of(std::string_view x, std::string_view y, const SurfaceNorm& norm = {},
                         const Fluency::Reading& fx = {}, const Fluency::Reading& fy = {}) {
  Components values{};
  surface_components(sketch_of(x), sketch_of(y), fx, fy, norm, values.data());
  return values;
}

double component(std::string_view name, std::string_view x, std::string_view y,
                 const SurfaceNorm& norm = {}) {
  return components_of(x, y, norm)[place_of(name)];
}

// Letters of several scripts, signs, spaces, and bytes that are not UTF-8.
std::string random_bytes(Random& random, std::size_t longest) {
  static const std::vector<std::string> kPieces = {
      "a",    "B",   "the ", " ",    ". ",           "?",        "9", "“",      "”",      "ä", "日",
      "本語", "ไทย", "...",  "\n",   "\xFF",         "\xE3\x81", "😀", "\u0301", "\u200F", ")", "。",
      "\xC0", "|",   "ß",    "word", "\xF0\x9F\xA4", "\"",       "٣", "\u3000"};
  std::string text;
  const auto pieces = random.below(longest + 1);
  for (std::uint64_t i = 0; i < pieces; ++i) text += kPieces[random.below(kPieces.size())];
  return text;
}

TEST_CASE("A sketch has a text's words, folded, without signs, and counts characters") {
  const auto sketch = sketch_of("The cat, the CAT!");
  REQUIRE(sketch.words().size() == 4);
  CHECK(sketch.words()[0] == sketch.words()[2]);
  CHECK(sketch.words()[1] == sketch.words()[3]);
  CHECK(sketch.words()[0] != sketch.words()[1]);
  CHECK(sketch.distinct() == 2);
  CHECK(std::is_sorted(sketch.distinct_words().begin(), sketch.distinct_words().end()));
  CHECK(sketch.characters() == 14);
  CHECK(sketch_of("é\u3000\u00A0日\t\n").characters() == 2);
  CHECK(sketch_of("a\xFFz").characters() == 3);
  const auto nothing = sketch_of("");
  CHECK((nothing.words().empty() && nothing.characters() == 0 && nothing.distinct() == 0));
}

TEST_CASE("Chinese, Japanese and Thai are cut into words") {
  // "We study at the university" in each; all ICU's dictionaries find several words.
  for (const auto* text : {"我们在大学学习", "私たちは大学で勉強します", "พวกเราเรียนที่มหาวิทยาลัย"}) {
    const auto sketch = sketch_of(text);
    CHECK(sketch.words().size() >= 3);
    CHECK(sketch.words().size() < sketch.characters());
  }
  const auto chinese = sketch_of("大学");
  const auto longer = sketch_of("我们在大学学习");
  REQUIRE(chinese.words().size() == 1);
  CHECK(std::count(longer.words().begin(), longer.words().end(), chinese.words()[0]) == 1);
}

TEST_CASE("A sketch knows how a text ends") {
  const auto ends_with = [](TextEnd end, std::initializer_list<const char*> texts) {
    for (const auto* text : texts) {
      CAPTURE(text);
      CHECK(sketch_of(text).end() == end);
    }
  };
  ends_with(TextEnd::kSentence,
            {"Yes.", "Yes!", "Yes?", "是。", "はい！", "हाँ।", "نعم؟", "Well...", "Well…", "(Yes.)",
             "“Yes.”", "\"Yes.\" \n", "„Ja.“", "「はい。」", "« Oui. »", "Yes.\u200F", "."});
  ends_with(TextEnd::kOtherSign, {"yes,", "yes:", "yes -", "(yes)", "\"yes\"", "50 %", "😀", "\")",
                                  "yes\xFF", "yes\xE3\x81"});
  ends_with(TextEnd::kWord, {"yes", "yes \t\u3000", "1999", "はい", "e\u0301", "ใช่", "Yes. no"});
  ends_with(TextEnd::kNothing, {"", " ", "\n\u3000\u200B", "\u00A0"});
}

TEST_CASE("A sketch that is read again is the one of the new text") {
  TextSketch sketch;
  sketch.read("one two three four.", tokenizer());
  sketch.read("ein Wort", tokenizer());
  const auto fresh = sketch_of("ein Wort");
  CHECK(std::ranges::equal(sketch.words(), fresh.words()));
  CHECK(std::ranges::equal(sketch.distinct_words(), fresh.distinct_words()));
  CHECK(sketch.characters() == fresh.characters());
  CHECK(sketch.end() == TextEnd::kWord);
}

TEST_CASE("Lengths are compared with what is usual for the stream") {
  // 9 and 19 characters, 3 and 4 words.
  const std::string x = "abc def ghi";
  const std::string y = "abcde fghij klmno pqrs";
  CHECK(component("x_characters", x, y) == Approx(std::log(10)));
  CHECK(component("y_characters", x, y) == Approx(std::log(20)));
  CHECK(component("x_words", x, y) == Approx(std::log(4)));
  CHECK(component("y_words", x, y) == Approx(std::log(5)));
  CHECK(component("length_difference", x, y) == Approx(std::log(2)));
  CHECK(component("length_difference", y, x) == Approx(-std::log(2)));
  CHECK(component("word_difference", x, y) == Approx(std::log(1.25)));
  const SurfaceNorm norm{1, 0.5};
  CHECK(component("length_difference", x, y, norm) == Approx(std::log(2) - 1));
  CHECK(component("length_distance", x, y, norm) == Approx(1 - std::log(2)));
  CHECK(component("length_distance_squared", x, y, norm) ==
        Approx((1 - std::log(2)) * (1 - std::log(2))));
  CHECK(component("word_difference", x, y, norm) == Approx(std::log(1.25) - 0.5));
  CHECK(component("word_distance", x, y, norm) == Approx(0.5 - std::log(1.25)));
  const std::string longest(100'000, 'a');
  CHECK(component("length_difference", "", longest) == 4);
  CHECK(component("length_difference", longest, "") == -4);
  CHECK(component("length_distance_squared", longest, "") == 16);
}

TEST_CASE("The norm of a stream is the weighted mean of its differences") {
  CHECK(SurfaceNorm::of({}) == SurfaceNorm{});
  const std::vector<PairLengths> pairs = {
      {0, 9, 0, 4, 1}, {9, 9, 4, 4, 3}, {0, 99, 0, 99, 0}, {0, 99, 0, 99, NAN}};
  const auto norm = SurfaceNorm::of(pairs);
  CHECK(norm.mean_difference == Approx(std::log(10) / 4));
  CHECK(norm.mean_word_difference == Approx(std::log(5) / 4));
  const auto lengths = lengths_of(sketch_of("a b."), sketch_of("cd ef gh"), 2);
  CHECK((lengths.x_characters == 3 && lengths.y_characters == 6));
  CHECK((lengths.x_words == 2 && lengths.y_words == 3 && lengths.weight == 2));
}

TEST_CASE("Ends, shared words and repeated words are compared") {
  CHECK(component("ends_alike", "Yes.", "Oui!") == 1);
  CHECK(component("ends_alike", "Yes.", "Oui") == 0);
  CHECK(component("ends_alike", "", " ") == 1);
  CHECK(component("sentence_end_difference", "Yes.", "Oui") == 1);
  CHECK(component("sentence_end_difference", "Yes", "Oui.") == -1);
  CHECK(component("sentence_end_difference", "Yes", "Oui,") == 0);
  CHECK(component("shared_words", "the red car", "the Red, RED house now") == Approx(2.0 / 3));
  CHECK(component("shared_words", "a b", "c d e") == 0);
  CHECK(component("shared_words", "", "c d e") == 0);
  CHECK(component("shared_words", "same words", "same words") == 1);
  // Of y the words from the middle on: "kept as it", "das ist es".
  CHECK(component("shared_late_words", "it was kept as it is", "das ist es kept as it") == 1);
  CHECK(component("shared_late_words", "it was kept as it is", "kept as it das ist es") == 0);
  CHECK(component("shared_late_words", "it was", "das ist it") == Approx(0.5));
  CHECK(component("shared_late_words", "it was", "") == 0);
  CHECK(component("x_variety", "no no no yes", "a") == Approx(0.5));
  CHECK(component("y_variety", "a", "no no no yes") == Approx(0.5));
  CHECK(component("x_variety", "", "a") == 1);
}

TEST_CASE("Fluency goes to the components of its side") {
  const auto values = components_of("a", "b", {}, {1, 2, 3, 4}, {5, 6, 7, 8});
  const char* names[] = {
      "x_fluency", "x_fluency_lowest_third", "x_fluency_minimum", "x_fluency_last",
      "y_fluency", "y_fluency_lowest_third", "y_fluency_minimum", "y_fluency_last"};
  double expected = 1;
  for (const auto* name : names) CHECK(values[place_of(name)] == expected++);
}

TEST_CASE("Each component has a name of its own and says what it sees") {
  std::set<std::string_view> names;
  std::set<std::string_view> abouts;
  for (const auto& row : kSurfaceTable) {
    names.insert(row.name);
    abouts.insert(row.about);
    CHECK(!row.about.empty());
  }
  CHECK(names.size() == kSurfaceComponents);
}

TEST_CASE("Exchanging the sides exchanges what belongs to a side and keeps what belongs to both") {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const auto x = random_bytes(random, 40);
    const auto y = random_bytes(random, 40);
    const SurfaceNorm norm{random.normal(), random.normal()};
    const SurfaceNorm reversed{-norm.mean_difference, -norm.mean_word_difference};
    const Fluency::Reading fx{1, 2, 3, 4};
    const Fluency::Reading fy{5, 6, 7, 8};
    const auto there = components_of(x, y, norm, fx, fy);
    const auto back = components_of(y, x, reversed, fy, fx);
    for (const auto& row : kSurfaceTable) {
      CAPTURE(row.name);
      const double value = there[place_of(row.name)];
      std::string other(row.name);
      if (row.name.substr(0, 2) == "x_") other[0] = 'y';
      if (row.name.substr(0, 2) == "y_") other[0] = 'x';
      const double exchanged = back[place_of(other)];
      if (row.name == "shared_late_words") continue;  // looks at the end of y alone
      const bool has_sign = row.name.ends_with("_difference");
      CHECK(value == Approx(has_sign ? -exchanged : exchanged).margin(1e-12));
    }
  }
}

TEST_CASE("All components are finite and in their ranges for any bytes") {
  Random random(2);
  Fluency fluency(50);
  SurfaceScratch scratch;
  for (int i = 0; i < 2000; ++i) {
    auto x = random_bytes(random, 60);
    auto y = random_bytes(random, 60);
    if (i % 4 == 0) {
      for (char& c : x) c = static_cast<char>(random.bits());
    }
    scratch.x.read(x, tokenizer());
    scratch.y.read(y, tokenizer());
    const auto fx = fluency.read(scratch.x.words(), scratch.fluency);
    const auto fy = fluency.read(scratch.y.words(), scratch.fluency, 1);
    Components values{};
    surface_components(scratch.x, scratch.y, fx, fy, {0.3, -0.2}, values.data());
    for (const double value : values) REQUIRE(std::isfinite(value));
    for (const auto* name : {"ends_alike", "shared_words", "shared_late_words", "x_variety"}) {
      const double value = values[place_of(name)];
      CHECK((value >= 0 && value <= 1));
    }
    fluency.learn(scratch.x.words());
  }
}

TEST_CASE("A text of a megabyte has all its characters and the first of its words") {
  std::string words;
  while (words.size() < 1'000'000) words += "ab" + std::to_string(words.size()) + " ";
  const auto sketch = sketch_of(words + "end.");
  CHECK(sketch.words().size() == TextSketch::kMostWords);
  CHECK(sketch.end() == TextEnd::kSentence);
  CHECK(sketch.characters() == static_cast<std::size_t>(words.size() + 4 -
                                                        static_cast<std::size_t>(std::count(
                                                            words.begin(), words.end(), ' '))));
  for (const std::string& text :
       {std::string(1'000'000, '\x80'), std::string(1'000'000, '"'), std::string(1'000'000, ' '),
        std::string(1'000'000, 'a'), std::string(1'000'000, '\xF0')}) {
    for (const double value : components_of(text, words)) CHECK(std::isfinite(value));
  }
}

}  // namespace
}  // namespace phsic::test
