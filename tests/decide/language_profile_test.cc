#include "decide/language_profile.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"

using namespace phsic;

namespace {

// Two invented languages of one alphabet: words of syllables of their own.
std::string sentence(bool is_first, Random& random) {
  static const std::vector<std::string> kFirst = {"the", "ing", "wo",  "sha", "er",
                                                  "you", "ly",  "con", "be",  "ough"};
  static const std::vector<std::string> kSecond = {"sch", "ein", "ü",  "zu",   "gen",
                                                   "ich", "auf", "be", "keit", "ä"};
  const auto& syllables = is_first ? kFirst : kSecond;
  std::string text;
  for (int word = 0; word < 8; ++word) {
    if (word > 0) text += ' ';
    for (int i = 0; i < 3; ++i) text += syllables[random.below(syllables.size())];
  }
  return text;
}

// `wrong` of a hundred texts stand on the wrong side.
LanguageProfile learned(std::size_t pairs, std::uint64_t wrong, std::uint64_t seed) {
  Random random(seed);
  LanguageProfile profile;
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto x = sentence(random.below(100) >= wrong, random);
    profile.learn(x, sentence(random.below(100) < wrong, random));
  }
  return profile;
}

std::string bytes_of(const LanguageProfile& profile) {
  Writer writer;
  profile.save(writer);
  return writer.bytes();
}

LanguageProfile loaded(const std::string& bytes) {
  Reader reader(bytes);
  auto profile = LanguageProfile::load(reader);
  reader.finish();
  return profile;
}

}  // namespace

TEST_CASE("A text of the other side's language is told, though some texts are on the wrong side") {
  for (const std::uint64_t wrong : {0, 2, 5, 10}) {
    CAPTURE(wrong);
    const auto profile = learned(1000, wrong, 3);
    Random random(4);
    for (int i = 0; i < 200; ++i) {
      const auto first = sentence(true, random);
      const auto second = sentence(false, random);
      CHECK_FALSE(profile.is_of_other_side(first, true));
      CHECK_FALSE(profile.is_of_other_side(second, false));
      CHECK(profile.is_of_other_side(second, true));
      CHECK(profile.is_of_other_side(first, false));
    }
  }
}

TEST_CASE("Nothing is told before a few hundred pairs, nor of a few letters") {
  Random random(5);
  const auto text = sentence(false, random);
  CHECK_FALSE(LanguageProfile().is_of_other_side(text, true));
  CHECK_FALSE(learned(299, 0, 1).is_of_other_side(text, true));
  CHECK(learned(300, 0, 1).is_of_other_side(text, true));
  CHECK_FALSE(learned(300, 0, 1).is_of_other_side("scheinü", true));
  CHECK_FALSE(learned(300, 0, 1).is_of_other_side("", true));
  CHECK_FALSE(LanguageProfile().is_of_rare_script("привет мир", true));
}

TEST_CASE("One language on both sides never stands on the wrong one") {
  Random random(6);
  LanguageProfile profile;
  for (int i = 0; i < 500; ++i) profile.learn(sentence(true, random), sentence(true, random));
  for (int i = 0; i < 500; ++i) {
    const auto text = sentence(i % 2 == 0, random);
    CHECK_FALSE(profile.is_of_other_side(text, true));
    CHECK_FALSE(profile.is_of_other_side(text, false));
  }
}

TEST_CASE("A script that hardly occurs on a side is rare there, and none is on a side of many") {
  LanguageProfile profile;
  for (int i = 0; i < 1000; ++i) {
    const bool is_wrong = i % 25 == 0;
    profile.learn(is_wrong ? "Привет, мир" : "Hello world",
                  i % 2 == 0 ? "你好世界" : "Привет, мир");
  }
  CHECK(profile.is_of_rare_script("Доброе утро", true));
  CHECK(profile.is_of_rare_script("早上好", true));
  CHECK(profile.is_of_rare_script("早上好 Tom", true) == false);
  CHECK_FALSE(profile.is_of_rare_script("Good morning Москва", true));
  CHECK_FALSE(profile.is_of_rare_script("Ünïcödé àçcénts", true));
  CHECK_FALSE(profile.is_of_rare_script("早", true));
  CHECK_FALSE(profile.is_of_rare_script("12345 ...", true));
  CHECK_FALSE(profile.is_of_rare_script("Good morning", false));
  CHECK_FALSE(profile.is_of_rare_script("早上好", false));
}

TEST_CASE("The script of a text is that of most of its letters, accented ones counted") {
  LanguageProfile profile;
  for (int i = 0; i < 1000; ++i) profile.learn("Привет, мир", "Hello world");
  // Two letters tell nothing, three do, however many bytes they have.
  CHECK_FALSE(profile.is_of_rare_script("ab", true));
  CHECK(profile.is_of_rare_script("abc", true));
  CHECK(profile.is_of_rare_script("abé", true));
  CHECK(profile.is_of_rare_script("éab 1,5 €", true));
  CHECK(profile.is_of_rare_script("éèà", true));
  CHECK(profile.is_of_rare_script("abc – “1”", true));
  // Half of the letters are not most of them.
  CHECK(profile.is_of_rare_script("abcжд", true));
  CHECK(profile.is_of_rare_script("жabдé", true));
  CHECK_FALSE(profile.is_of_rare_script("abcжде", true));
  CHECK_FALSE(profile.is_of_rare_script("abжд", true));
  CHECK_FALSE(profile.is_of_rare_script("abжде", true));
}

TEST_CASE("A profile that was saved and loaded is the same one and goes on alike") {
  auto profile = learned(500, 3, 8);
  auto again = loaded(bytes_of(profile));
  CHECK(again == profile);
  Random random(9);
  const auto x = sentence(true, random);
  const auto y = sentence(false, random);
  profile.learn(x, y);
  CHECK_FALSE(again == profile);
  again.learn(x, y);
  CHECK(again == profile);
  CHECK(loaded(bytes_of(LanguageProfile())) == LanguageProfile());
}

TEST_CASE("Profiles merged are the profile of all their pairs, in any order") {
  Random random(10);
  LanguageProfile one;
  LanguageProfile two;
  LanguageProfile all;
  for (int i = 0; i < 400; ++i) {
    const auto x = sentence(true, random);
    const auto y = sentence(false, random);
    (i % 3 == 0 ? one : two).learn(x, y);
    all.learn(x, y);
  }
  auto forth = one;
  forth.merge(two);
  auto back = two;
  back.merge(one);
  CHECK(forth == all);
  CHECK(back == all);
}

TEST_CASE("Counts are halved before they overflow") {
  auto profile = learned(1000, 0, 11);
  // Doubled forty times, which no 32 bits hold.
  for (int i = 0; i < 40; ++i) profile.merge(LanguageProfile(profile));
  CHECK(loaded(bytes_of(profile)) == profile);
  Random random(12);
  for (int i = 0; i < 50; ++i) {
    CHECK(profile.is_of_other_side(sentence(false, random), true));
    CHECK_FALSE(profile.is_of_other_side(sentence(true, random), true));
  }
  // Learning goes on, with sums that loading finds again.
  for (int i = 0; i < 30; ++i) {
    profile.learn(sentence(true, random), sentence(false, random));
  }
  CHECK(loaded(bytes_of(profile)) == profile);
}

TEST_CASE("A saved profile of another size, cut short or with too large counts is refused") {
  const auto bytes = bytes_of(learned(400, 0, 13));
  for (std::size_t length = 0; length < bytes.size(); length += length < 100 ? 1 : 97) {
    CHECK_THROWS_AS(loaded(bytes.substr(0, length)), Error);
  }
  CHECK_THROWS_AS(loaded(bytes + '\0'), Error);
  Writer writer;
  writer.number<std::uint64_t>(1);
  writer.array(std::vector<std::uint32_t>(255));
  CHECK_THROWS_WITH(loaded(writer.bytes()), Catch::Matchers::Contains("256"));
  Writer large;
  large.number<std::uint64_t>(1);
  for (int side = 0; side < 2; ++side) {
    large.array(std::vector<std::uint32_t>(256));
    large.array(std::vector<std::uint32_t>(4096, 1U << 31U));
  }
  CHECK_THROWS_WITH(loaded(large.bytes()), Catch::Matchers::Contains("trigrams"));
}

TEST_CASE("A flipped byte of a saved profile is refused or makes a profile that works") {
  const auto bytes = bytes_of(learned(400, 0, 14));
  for (std::size_t at = 0; at < bytes.size(); at += at < 32 ? 1 : 61) {
    for (const char flip : {'\x01', '\x80'}) {
      auto damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      try {
        auto profile = loaded(damaged);
        CHECK(bytes_of(profile) == damaged);
        profile.learn("some text here", "noch ein Text");
        static_cast<void>(profile.is_of_other_side("some other text of letters", false));
      } catch (const Error&) {
        continue;
      }
    }
  }
}
