#include "decide/rules.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "decide/language_profile.h"
#include "decide/text_facts.h"

using namespace phsic;

namespace {

const std::string kFine = "The quick brown fox jumps over the lazy dog.";
const std::string kGut = "Der schnelle braune Fuchs springt über den faulen Hund.";

RuleSet only(const char* name) {
  RuleSet rules = RuleSet::none();
  REQUIRE(find_rule(name) != nullptr);
  rules.set(*find_rule(name), true);
  return rules;
}

// The reason of this rule alone, by name; empty if the pair is fine.
std::string verdict(const char* name, const std::string& x, const std::string& y,
                    const LanguageProfile* profile = nullptr) {
  RuleScratch scratch;
  const auto code = broken_rule(only(name), x, y, profile, scratch);
  CHECK(broken_rule(only(name), x, y, profile, scratch) == code);
  return name_of_reason(code);
}

// Each text is rejected on the side on which it stands, beside a text that is fine.
void rejects(const char* name, const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    CAPTURE(name, text);
    CHECK(verdict(name, text, kGut) == std::string(name) + "(left)");
    CHECK(verdict(name, kGut, text) == std::string(name) + "(right)");
  }
}

void accepts(const char* name, const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    CAPTURE(name, text);
    CHECK(verdict(name, text, kGut).empty());
    CHECK(verdict(name, kFine, text).empty());
  }
}

void rejects_pair(const char* name, const std::string& x, const std::string& y) {
  CAPTURE(name, x, y);
  CHECK(verdict(name, x, y) == name);
  CHECK(verdict(name, y, x) == name);
}

void accepts_pair(const char* name, const std::string& x, const std::string& y) {
  CAPTURE(name, x, y);
  CHECK(verdict(name, x, y).empty());
  CHECK(verdict(name, y, x).empty());
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// Good sentences in many scripts.
const std::vector<std::string> kSentences = {
    "A plain sentence of several words.",
    "Der Käse, den Jörg im Süden aß, war übrigens größer.",
    "« Là, dit-elle, c’est l’été à Noël… »",
    "NESCAFÉ® et « CAFÉ » à 5 € : voilà !",
    "A IRMÃ” não é a manhã… São João, AMANHÃ – já.",
    "¿Dónde está el niño? ¡AQUÍ!",
    "Þýðir þetta eitthvað, ég veit það ekki.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Быстрая коричневая лиса перепрыгивает через собаку.",
    "Η γρήγορη αλεπού πηδάει πάνω από τον σκύλο.",
    "השועל המהיר קופץ מעל הכלב העצלן.",
    "الثعلب السريع يقفز فوق الكلب الكسول.",
    "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है।",
    "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ",
    "敏捷的棕色狐狸跳过了那只懒惰的狗。",
    "素早い茶色の狐がのろまな犬を飛び越える。",
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다.",
    "Con cáo nâu nhanh nhẹn nhảy qua con chó lười biếng.",
};

}  // namespace

TEST_CASE("Rules have numbers and names of their own and distinct reasons") {
  std::set<ReasonCode> codes;
  std::set<std::string_view> names;
  for (const auto& rule : rule_table()) {
    CHECK(rule.number < 60);
    CHECK(names.insert(rule.name).second);
    CHECK(find_rule(rule.name) == &rule);
    CHECK_FALSE(rule.about.empty());
    for (const auto side : {PairSide::kBoth, PairSide::kLeft, PairSide::kRight}) {
      const auto code = reason_of(rule, side);
      CHECK(code >= reasons::kFirstRule);
      CHECK(codes.insert(code).second);
      CHECK(is_rejection(code));
      CHECK(name_of_reason(code).rfind(rule.name, 0) == 0);
    }
  }
  CHECK(names.size() == 21);
  CHECK(find_rule("no_such") == nullptr);
}

TEST_CASE("Numbers of rules never change: journals keep them") {
  const std::vector<std::string> names = {"no_empty",
                                          "not_too_long",
                                          "no_bad_encoding",
                                          "no_only_symbols",
                                          "no_identical",
                                          "no_only_numbers",
                                          "length_ratio",
                                          "no_literals",
                                          "no_escaped_unicode",
                                          "no_urls",
                                          "no_breadcrumbs",
                                          "no_space_noise",
                                          "no_paren",
                                          "no_unicode_noise",
                                          "no_glued_words",
                                          "not_too_short",
                                          "no_repeated_words",
                                          "no_titles",
                                          "no_number_inconsistencies",
                                          "no_script_inconsistencies",
                                          "no_wrong_language"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    REQUIRE(find_rule(names[i]) != nullptr);
    CHECK(find_rule(names[i])->number == i);
  }
}

TEST_CASE("Only what is never right is rejected by default") {
  std::set<std::string_view> names;
  for (const auto& rule : rule_table()) {
    CHECK(RuleSet().has(rule) == rule.is_default);
    if (rule.is_default) names.insert(rule.name);
  }
  CHECK(names == std::set<std::string_view>{"no_empty", "no_identical", "no_only_symbols",
                                            "no_bad_encoding", "not_too_long"});
}

TEST_CASE("A set of rules is read from names and written as it is read") {
  CHECK(RuleSet::parse("default") == RuleSet());
  CHECK(RuleSet::parse("hard") == RuleSet::hard());
  CHECK(RuleSet::parse("none") == RuleSet::none());
  CHECK(RuleSet::parse("no_titles") == only("no_titles"));
  auto some = only("no_titles");
  some.set(*find_rule("no_empty"), true);
  CHECK(RuleSet::parse(" no_titles , no_empty ") == some);
  auto most = RuleSet::hard();
  most.set(*find_rule("no_titles"), false);
  CHECK(RuleSet::parse("hard,-no_titles") == most);
  auto fewer = RuleSet();
  fewer.set(*find_rule("no_identical"), false);
  CHECK(RuleSet::parse("-no_identical") == fewer);
  CHECK(RuleSet::parse("default,-no_identical") == fewer);
  CHECK(RuleSet().to_string() == "default");
  CHECK(RuleSet::hard().to_string() == "hard");
  CHECK(RuleSet::none().to_string() == "none");
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    RuleSet rules = RuleSet::none();
    for (const auto& rule : rule_table()) rules.set(rule, random.below(2) == 1);
    CHECK(RuleSet::parse(rules.to_string()) == rules);
  }
}

TEST_CASE("A name that is no rule is refused with all that are") {
  for (const char* text : {"", ",", "no_title", "no_empty,", "-hard", "--no_empty", "NO_EMPTY"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(RuleSet::parse(text), Catch::Matchers::Contains("expected") &&
                                                Catch::Matchers::Contains("no_identical") &&
                                                Catch::Matchers::Contains("hard"));
  }
}

TEST_CASE("Good sentences of any script break no default rule and no rule about characters") {
  RuleScratch scratch;
  auto rules = RuleSet::parse("hard,-length_ratio,-not_too_short,-no_number_inconsistencies");
  for (const auto& x : kSentences) {
    for (const auto& y : kSentences) {
      if (&x == &y) continue;
      CAPTURE(x, y);
      CHECK(name_of_reason(broken_rule(RuleSet(), x, y, nullptr, scratch)).empty());
      CHECK(name_of_reason(broken_rule(rules, x, y, nullptr, scratch)).empty());
    }
  }
}

TEST_CASE("The first rule that is broken is told, and a set of none rejects nothing") {
  RuleScratch scratch;
  CHECK(name_of_reason(broken_rule(RuleSet::hard(), "", "", nullptr, scratch)) == "no_empty(left)");
  CHECK(broken_rule(RuleSet::none(), "", "", nullptr, scratch) == reasons::kNone);
  CHECK(name_of_reason(broken_rule(RuleSet(), "Same.", "Same.", nullptr, scratch)) ==
        "no_identical");
}

TEST_CASE("no_empty rejects what shows nothing") {
  rejects("no_empty", {"", " ", "\t\r\n", "\u00A0\u2003\u3000", "\u200B\u200D\uFEFF", "\u00AD",
                       "\u3164", "\u2800", std::string(3, '\0')});
  accepts("no_empty", {".", "a", "字", "ا", "1", " . "});
}

TEST_CASE("not_too_long rejects 1024 characters of any script") {
  for (const std::string letter : {"a", "ä", "字", "😀", "\xff"}) {
    rejects("not_too_long", {repeated(letter, 1024)});
    accepts("not_too_long", {repeated(letter, 1023)});
    rejects("not_too_long", {repeated(letter, 5000)});
  }
}

TEST_CASE("not_too_short counts words, also where they stand without spaces") {
  rejects("not_too_short", {"", "Hello world", "Ja.", "你好", "ありがとう", "สวัสดี", "..., !"});
  accepts("not_too_short",
          {"I am here", "我今天去学校。", "私は学生です。", "ฉันรักประเทศไทย", "나는 학교에 간다"});
}

TEST_CASE("length_ratio weighs characters by what they say") {
  rejects_pair("length_ratio", repeated("a", 31), repeated("a", 10));
  accepts_pair("length_ratio", repeated("a", 30), repeated("a", 10));
  rejects_pair("length_ratio", "Yes.", kFine);
  rejects_pair("length_ratio", "", kFine);
  accepts_pair("length_ratio", "I went to the university library yesterday to borrow three books.",
               "我昨天去大学图书馆借了三本书。");
  accepts_pair("length_ratio", "I borrowed three books from the library yesterday.",
               "昨日図書館で本を三冊借りました。");
  accepts_pair("length_ratio", "Быстрая лиса прыгает.", "The quick fox jumps.");
  rejects_pair("length_ratio", "I went to the university library yesterday to borrow three books.",
               "昨天。");
}

TEST_CASE("no_identical rejects copies but for case, and for signs and spaces at their ends") {
  rejects_pair("no_identical", "Tom ist hier.", "Tom ist hier.");
  rejects_pair("no_identical", "Tom ist hier.", "  tom IST hier!!");
  rejects_pair("no_identical", "ÄRGER über Straßen", "ärger ÜBER STRASSEN?");
  rejects_pair("no_identical", "ПРИВЕТ, мир", "«привет, мир»");
  rejects_pair("no_identical", "你好。", "你好");
  rejects_pair("no_identical", "42", "42");
  rejects_pair("no_identical", "caf\u00E9", "cafe\u0301.");
  rejects_pair("no_identical", "...", " ... ");
  rejects_pair("no_identical", "Tom", "Tom 😀");
  accepts_pair("no_identical", "Tom ist hier.", "Tom ist da.");
  accepts_pair("no_identical", "Tom ist hier.", "Tom ist hier. Und Maria?");
  accepts_pair("no_identical", "schon", "schön");
  accepts_pair("no_identical", "hindi हिन्दी", "hindi हिन्द");
  accepts_pair("no_identical", "...", "?");
  accepts_pair("no_identical", "a", "");
}

TEST_CASE("no_literals rejects pieces of templates") {
  rejects("no_literals", {"Re: your mail", "Hello {{name}}", "found %s files", "see }} there",
                          "+++ News", "*** bold", "<a href=\"x\">"});
  accepts("no_literals", {"Regarding: mail", "100% sure", "a + b", "2 * 3", "{x}"});
}

TEST_CASE("no_only_symbols rejects what has hardly a letter or digit") {
  rejects("no_only_symbols",
          {"...", "😀😀😀", "❤️", "-----------------a", "。。。", "— ? !", "^_^"});
  accepts("no_only_symbols", {"42", "12:30", "a", "(a)", "字", "हि", "١٢٣", "OK 👍", ""});
}

TEST_CASE("no_only_numbers rejects what is mostly digits of any script") {
  rejects("no_only_numbers", {"42", "1.234,56", "12/05/2020", "١٢٣٤", "１２３", "1234 ab"});
  accepts("no_only_numbers", {"Room 42", "2024年5月", "in 1990 war er", "", "..."});
}

TEST_CASE("no_urls rejects what is mostly addresses") {
  rejects("no_urls", {"https://example.org/a/b?c=d", "see www.example.org", "jane.doe@example.org",
                      "(ftp://host/file)", "example.org/path/to", "mailto:a@b"});
  accepts("no_urls", {"You can find more about it at https://example.org", "and/or", "e.g. this",
                      "Mr. Smith/Jones", "24.12.2020", "me @ home", "你好"});
}

TEST_CASE("no_breadcrumbs rejects menus") {
  rejects("no_breadcrumbs",
          {"Home | News | Sport", "Start » Shop » Shoes", "A > B > C > D",
           "Home / News / Sport / Ski", "首页 • 新闻 • 体育", "a :: b :: c :: d"});
  accepts("no_breadcrumbs", {"He said - no.", "« Oui » dit-il, « non » dit-elle", "col·lecció",
                             "either/or/and/but", "• one item", "约翰·史密斯·李", "a - b - c"});
}

TEST_CASE("no_glued_words rejects words run together") {
  rejects("no_glued_words", {"ThisIsGlued", "clickHereNow please", "ПриветМирДом",
                             repeated("a", 61), repeated("ö", 61)});
  accepts("no_glued_words",
          {"McDonald", "iPhone and GmbH", "NASA", "DNA-Test", repeated("a", 60),
           "Donaudampfschifffahrtsgesellschaftskapitän", repeated("字", 100), repeated("ก", 100)});
}

TEST_CASE("no_repeated_words rejects long words and phrases that come twice in a row") {
  rejects("no_repeated_words",
          {"a beautiful beautiful day", "download, download now",
           "click here to download, click here to download", "прекрасный прекрасный день"});
  accepts("no_repeated_words",
          {"very very good", "no, no, no, no", "a beautiful, very beautiful day",
           "blah blah blah blah", "谢谢谢谢", "ha ha ha ha ha ha"});
}

TEST_CASE("no_unicode_noise rejects characters that no text has") {
  rejects("no_unicode_noise",
          {"\uE000\uE001\uE002 text of some length", "┌──┐ box", "a\x01",
           "z\u0300\u0301\u0302\u0303\u0304\u0305\u0306",
           "\u00FE\u00FD\u00F0\u00E9\u00E1\u00ED\u00F3", "\U000E1234 a", "█████"});
  accepts("no_unicode_noise", {"a\tb", "😀", "þýðir", "Việt Nam", "हिन्दी",
                               "a long sentence of many words that has one \uE000 inside"});
}

TEST_CASE("no_space_noise rejects letters that stand alone") {
  rejects("no_space_noise", {"l i k e t h i s", "so W e l c o me", "п р и в е т"});
  accepts("no_space_noise",
          {"I a m", "我 是 一 个 学 生", "1 2 3 4 5 6", "y a à e", "a - b - c - d"});
}

TEST_CASE("no_paren rejects brackets without counterparts, and too many") {
  rejects("no_paren", {"a [b", "a} b", "[1][2][3][4]", "a (b", "b) c", "（中文", "【a"});
  accepts("no_paren", {"(a) (b) (c) (d)", "[1][2][3]", "（中文）", "{x}", "a"});
  accepts_pair("no_paren", "a) first", "a) erstens");
  accepts_pair("no_paren", "fine :)", "gut :)");
  CHECK(verdict("no_paren", "fine", "gut :)") == "no_paren(right)");
}

TEST_CASE("no_escaped_unicode rejects codes instead of characters") {
  rejects("no_escaped_unicode",
          {"caf\\u00e9", "caf\\xe9", "caf&#233;", "it&#x2019;s", "\\u{1F600}"});
  accepts("no_escaped_unicode",
          {"C:\\users", "AT&T", "R&D; #1", "\\", "&", "&#", "\\u", "&#;", "a \\x b"});
}

TEST_CASE("no_bad_encoding rejects lost characters and UTF-8 read as Latin-1") {
  rejects("no_bad_encoding", {"caf\uFFFD",    "bad \xff byte", "cut \xc3", "c1 \u0093 control",
                              "schÃ¶n",       "Ã–sterreich",   "MÃ¼ller",  "itâ€™s",
                              "aâ€“b",        "cafÃ©",         "Ã©tÃ©",    "voilÃ\u00A0 tout",
                              "5Â°",          "marÃ\u00ADa",   "Â© 2020",  "100Â\u00A0km",
                              "ÐŸÑ€Ð¸Ð²ÐµÑ‚", "Î±Î²Î³",        "ä½ å¥½",   "ã‚¿ã‚¤",
                              "ðŸ˜€",         "ï»¿text",       "aï¿½b",    "Å¡koda",
                              "ActivÄƒ",      "10â‚¬",         "brandâ„¢"});
  accepts("no_bad_encoding", kSentences);
  accepts("no_bad_encoding", {"SÃO PAULO", "NÃO, IRMÃ…", "là\u00A0» et côté\u00A0»", "É\u00A0!",
                              "é…”", "5 Å³", "Weiß\u00ADwein", "3×½", "Â", "Ã", "Fußnote¹ groß²",
                              "CAFÉ™", "à\u00A0€ 10", "ð", "â la carte", "1º ª"});
}

TEST_CASE("no_titles rejects pairs of headings") {
  rejects_pair("no_titles", "Terms And Conditions", "Allgemeine Geschäftsbedingungen");
  rejects_pair("no_titles", "ABOUT US", "ÜBER UNS");
  rejects_pair("no_titles", "Новости Спорта", "Sport News 2020");
  accepts_pair("no_titles", "Terms and Conditions", "Allgemeine Geschäftsbedingungen");
  accepts_pair("no_titles", "Hello", "Hallo");
  accepts_pair("no_titles", "关于 我们", "ABOUT US");
  accepts_pair("no_titles", "12 34", "56 78");
}

TEST_CASE("no_number_inconsistencies compares numbers by value, in any order") {
  const char* name = "no_number_inconsistencies";
  accepts_pair(name, "no numbers", "keine Zahlen");
  accepts_pair(name, "1,000.50 and 7", "7 und 1.000,50");
  accepts_pair(name, "10 000 people", "10,000 Leute");
  accepts_pair(name, "on 05/12/2020", "am 12.05.2020");
  accepts_pair(name, "٤٢ و ٧", "7, 42");
  accepts_pair(name, "４２", "42");
  accepts_pair(name, "007", "7");
  rejects_pair(name, "42 men", "43 Männer");
  rejects_pair(name, "2 and 2", "2");
  rejects_pair(name, "100", "1000");
  rejects_pair(name, "0", "none");
  rejects_pair(name, "12", "21");
}

TEST_CASE("Rules about languages need a profile, and name the side") {
  LanguageProfile profile;
  for (int i = 0; i < 400; ++i) profile.learn(kFine, "Быстрая коричневая лиса прыгает.");
  const std::string russian = "Собака спит дома.";
  const char* name = "no_script_inconsistencies";
  CHECK(verdict(name, russian, russian).empty());
  CHECK(verdict(name, russian, russian, &profile) == "no_script_inconsistencies(left)");
  CHECK(verdict(name, kFine, kFine, &profile) == "no_script_inconsistencies(right)");
  CHECK(verdict(name, kFine, russian, &profile).empty());
  CHECK(verdict("no_wrong_language", kFine, kFine).empty());
  CHECK(verdict("no_wrong_language", kFine, kFine, &profile) == "no_wrong_language(right)");
  CHECK(verdict("no_wrong_language", kFine, russian, &profile).empty());
}

TEST_CASE("Facts of a text are the sum of its characters'") {
  Random random(7);
  const std::vector<std::string> characters = {"a",  "Z", "7",      " ",      "-", "ä",  "字", "が",
                                               "한", "٣", "\u0301", "\u200B", "😀", "\n", "я",  "½"};
  for (int i = 0; i < 200; ++i) {
    std::string text;
    TextFacts sum;
    const auto length = random.below(400);
    for (std::uint64_t j = 0; j < length; ++j) {
      const auto& character = characters[random.below(characters.size())];
      text += character;
      const auto one = read_facts(character);
      REQUIRE(one.characters == 1);
      sum.characters += one.characters;
      sum.letters += one.letters;
      sum.digits += one.digits;
      sum.marks += one.marks;
      sum.invisible += one.invisible;
      sum.density += one.density;
    }
    auto facts = read_facts(text);
    facts.is_badly_encoded = false;  // "ä½" looks like it
    CHECK(facts == sum);
  }
  const std::string long_text(200'000, 'a');
  CHECK(read_facts(long_text + "ä" + long_text).letters == 400'001);
}

TEST_CASE("Any bytes are judged, and alike with a fresh scratch") {
  Random random(11);
  const std::string parts = "aZ9 .-/|([{\\u&#;@:%\"\xc3\xa4\xe2\x80\x99\xf0\x9f\x98\x80\xff\n";
  RuleScratch scratch;
  for (int i = 0; i < 2000; ++i) {
    std::string texts[2];
    for (auto& text : texts) {
      const auto length = random.below(60);
      for (std::uint64_t j = 0; j < length; ++j) text += parts[random.below(parts.size())];
    }
    for (const auto& rule : rule_table()) {
      const auto rules = only(rule.name.data());
      RuleScratch fresh;
      REQUIRE(broken_rule(rules, texts[0], texts[1], nullptr, scratch) ==
              broken_rule(rules, texts[0], texts[1], nullptr, fresh));
    }
  }
}

TEST_CASE("The document on filtering has every rule with what it rejects, in order") {
  std::ifstream file(PHSIC_FILTERING);
  const std::string document((std::istreambuf_iterator<char>(file)), {});
  std::string expected = "| Rule | | rejects |\n|---|---|---|\n";
  for (const auto& rule : rule_table()) {
    std::string about(rule.about);
    for (std::size_t bar = 0; (bar = about.find('|', bar)) != std::string::npos;) {
      about.replace(bar, 1, "&#124;");
    }
    expected += "| `" + std::string(rule.name) + "` | " + (rule.is_default ? "default" : "") +
                " | " + about + " |\n";
  }
  CHECK_THAT(document, Catch::Contains(expected));
}
