#include "decide/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "decide/language_profile.h"
#include "decide/rule_pair.h"
#include "decide/text_noise.h"

namespace phsic {
namespace {

constexpr PairSide kSides[] = {PairSide::kLeft, PairSide::kRight};

// The first side of which `is_bad(side)` is true.
template <class IsBad>
bool breaks_on_a_side(PairSide& side, const IsBad& is_bad) {
  for (const std::size_t i : {0, 1}) {
    if (!is_bad(i)) continue;
    side = kSides[i];
    return true;
  }
  return false;
}

bool breaks_as_a_pair(PairSide& side, bool is_bad) {
  if (is_bad) side = PairSide::kBoth;
  return is_bad;
}

// Rules about one text: about its facts, its characters, its words.
template <bool (*IsBad)(const TextFacts&)>
bool by_facts(RulePair& pair, PairSide& side) {
  return breaks_on_a_side(side, [&](std::size_t i) { return IsBad(pair.facts(i)); });
}
template <bool (*IsBad)(std::string_view)>
bool by_text(RulePair& pair, PairSide& side) {
  return breaks_on_a_side(side, [&](std::size_t i) { return IsBad(pair.text(i)); });
}
template <bool (*IsBad)(const text::Tokens&)>
bool by_words(RulePair& pair, PairSide& side) {
  return breaks_on_a_side(side, [&](std::size_t i) { return IsBad(pair.words(i)); });
}

bool are_too_long(RulePair& pair, PairSide& side) {
  constexpr std::size_t kTooLong = 1024;
  constexpr std::size_t kLongestCharacter = 4;
  return breaks_on_a_side(side, [&](std::size_t i) {
    const auto bytes = pair.text(i).size();
    // Bytes tell it of most texts, so that a very long one costs nothing.
    return bytes >= kTooLong &&
           (bytes >= kTooLong * kLongestCharacter || pair.facts(i).characters >= kTooLong);
  });
}

bool is_too_short(const text::Tokens& words) {
  constexpr std::size_t kFewest = 3;
  return words.size() < kFewest;
}

bool is_only_symbols(const TextFacts& facts) {
  const bool is_empty = facts.characters == facts.invisible;
  return !is_empty && 10 * (facts.letters + facts.digits) <= facts.visible();
}

bool is_only_numbers(const TextFacts& facts) {
  return facts.digits > 0 && 2 * facts.digits >= facts.visible() + facts.density;
}

bool is_badly_encoded(const TextFacts& facts) { return facts.is_badly_encoded; }

bool have_odd_lengths(RulePair& pair, PairSide& side) {
  constexpr std::size_t kMost = 3;
  const auto x = pair.facts(0).length();
  const auto y = pair.facts(1).length();
  return breaks_as_a_pair(side, x > kMost * y || y > kMost * x);
}

bool are_copies(RulePair& pair, PairSide& side) {
  return breaks_as_a_pair(side, are_identical(pair));
}

bool are_titles(RulePair& pair, PairSide& side) {
  return breaks_as_a_pair(side, is_title(pair.words(0)) && is_title(pair.words(1)));
}

bool have_other_numbers(RulePair& pair, PairSide& side) {
  const bool have_digits = pair.facts(0).digits > 0 || pair.facts(1).digits > 0;
  return breaks_as_a_pair(side, have_digits && !have_same_numbers(pair));
}

bool have_bad_brackets(RulePair& pair, PairSide& side) {
  const Brackets brackets[] = {count_brackets(pair.text(0)), count_brackets(pair.text(1))};
  // "a) ..." on both sides is an item of a list.
  const bool are_alike =
      brackets[0].opening == brackets[1].opening && brackets[0].closing == brackets[1].closing;
  return breaks_on_a_side(side, [&](std::size_t i) {
    return brackets[i].are_bad || (!are_alike && brackets[i].opening != brackets[i].closing);
  });
}

bool are_of_rare_scripts(RulePair& pair, PairSide& side) {
  return breaks_on_a_side(side, [&](std::size_t i) {
    return pair.profile() != nullptr && pair.profile()->is_of_rare_script(pair.text(i), i == 0);
  });
}

bool are_of_wrong_languages(RulePair& pair, PairSide& side) {
  return breaks_on_a_side(side, [&](std::size_t i) {
    return pair.profile() != nullptr && pair.profile()->is_of_other_side(pair.text(i), i == 0);
  });
}

// Numbers are forever; the order is that of trying.
constexpr Rule kRules[] = {
    {0, "no_empty", true, "a text of nothing but white space and invisible characters",
     by_text<is_blank>},
    {1, "not_too_long", true, "a text of 1024 characters or more, in any script", are_too_long},
    {2, "no_bad_encoding", true,
     "a text with the replacement character U+FFFD, C1 controls, or UTF-8 that was read as Latin-1",
     by_facts<is_badly_encoded>},
    {3, "no_only_symbols", true, "a text with at most a tenth of letters and digits, spaces aside",
     by_facts<is_only_symbols>},
    {4, "no_identical", true,
     "two texts that differ at most in case, and in signs and spaces at their ends", are_copies},
    {5, "no_only_numbers", false, "a text at least half of which is digits, spaces aside",
     by_facts<is_only_numbers>},
    {6, "length_ratio", false,
     "a text more than three times as long as the other, where a Chinese character counts as three "
     "letters, and one of kana or Hangul as two",
     have_odd_lengths},
    {7, "no_literals", false, "a text with Re: {{ }} %s +++ *** or =\"", by_text<has_literals>},
    {8, "no_escaped_unicode", false, "a text with \\u00e9, \\xe9 or &#233; instead of a character",
     by_text<has_escapes>},
    {9, "no_urls", false, "a text at least half of which is addresses of the web or of mail",
     by_text<is_mostly_addresses>},
    {10, "no_breadcrumbs", false,
     "a text with two signs of menus such as | » • between its parts, or three of - / > : between "
     "spaces",
     by_text<has_breadcrumbs>},
    {11, "no_space_noise", false, "a text with five letters in a row that s t a n d alone",
     by_text<has_space_noise>},
    {12, "no_paren", false,
     "a text with more than six square or curly brackets, with one that has no counterpart, or "
     "with a round one that has none and is not on the other side either",
     have_bad_brackets},
    {13, "no_unicode_noise", false,
     "a text with characters that mean nothing (private, unassigned, controls, boxes), or with too "
     "many marks or accents in a row",
     by_text<has_unicode_noise>},
    {14, "no_glued_words", false,
     "a text with aWordLikeThis, of several capitals inside, or one of more than 60 letters",
     by_text<has_glued_words>},
    {15, "not_too_short", false, "a text of fewer than three words", by_words<is_too_short>},
    {16, "no_repeated_words", false,
     "a text with a word of more than seven letters twice in a row, or with a phrase of more than "
     "fifteen",
     by_words<has_repeated_words>},
    {17, "no_titles", false, "two texts of several words that all begin with capitals", are_titles},
    {18, "no_number_inconsistencies", false,
     "two texts that do not have the same numbers, separators and order aside", have_other_numbers},
    {19, "no_script_inconsistencies", false,
     "a text most of whose letters are of a script that its side hardly has", are_of_rare_scripts},
    {20, "no_wrong_language", false,
     "a text that looks like those of the other side, by runs of three letters learned from the "
     "stream",
     are_of_wrong_languages},
};

std::uint64_t bit_of(const Rule& rule) { return std::uint64_t{1} << rule.number; }

std::string_view trim_spaces(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(' '), text.size());
  const auto end = text.find_last_not_of(' ') + 1;
  return text.substr(begin, end > begin ? end - begin : 0);
}

[[noreturn]] void refuse_rule(std::string_view name) {
  std::string names;
  for (const auto& rule : kRules) names += fmt::format(", {}", rule.name);
  throw Error(fmt::format("found the rule \"{}\", expected default, hard, none{}", name, names));
}

}  // namespace

std::span<const Rule> rule_table() { return kRules; }

ReasonCode reason_of(const Rule& rule, PairSide side) {
  constexpr unsigned kCodesOfARule = 4;
  return static_cast<ReasonCode>(reasons::kFirstRule + kCodesOfARule * rule.number +
                                 static_cast<unsigned>(side));
}

bool is_about_language(ReasonCode code) {
  const auto is_of = [&](const char* name) {
    const auto first = reason_of(*find_rule(name), PairSide::kBoth);
    return code >= first && code <= first + static_cast<unsigned>(PairSide::kRight);
  };
  return is_of("no_script_inconsistencies") || is_of("no_wrong_language");
}

const Rule* find_rule(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kRules), std::end(kRules),
                                         [&](const Rule& rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

RuleSet::RuleSet() {
  for (const auto& rule : kRules) set(rule, rule.is_default);
}

RuleSet RuleSet::none() {
  RuleSet rules;
  rules.bits_ = 0;
  return rules;
}

RuleSet RuleSet::hard() {
  RuleSet rules;
  for (const auto& rule : kRules) rules.set(rule, true);
  return rules;
}

void RuleSet::set(const Rule& rule, bool on) {
  bits_ = on ? bits_ | bit_of(rule) : bits_ & ~bit_of(rule);
}

RuleSet RuleSet::parse(std::string_view text) {
  RuleSet rules = trim_spaces(text).substr(0, 1) == "-" ? RuleSet() : none();
  for (bool is_last = false; !is_last;) {
    const auto comma = text.find(',');
    is_last = comma == std::string_view::npos;
    const auto item = trim_spaces(text.substr(0, comma));
    if (!is_last) text.remove_prefix(comma + 1);
    const bool takes_away = item.substr(0, 1) == "-";
    const Rule* const rule = find_rule(takes_away ? item.substr(1) : item);
    if (rule != nullptr) {
      rules.set(*rule, !takes_away);
    } else if (item == "default") {
      rules.bits_ |= RuleSet().bits_;
    } else if (item == "hard") {
      rules.bits_ |= hard().bits_;
    } else if (item != "none") {
      refuse_rule(item);
    }
  }
  return rules;
}

std::string RuleSet::to_string() const {
  if (*this == RuleSet()) return "default";
  if (*this == hard()) return "hard";
  if (*this == none()) return "none";
  std::string names;
  for (const auto& rule : kRules) {
    if (!has(rule)) continue;
    if (!names.empty()) names += ',';
    names += rule.name;
  }
  return names;
}

ReasonCode broken_rule(const RuleSet& rules, std::string_view x, std::string_view y,
                       const LanguageProfile* profile, RuleScratch& scratch) {
  // Texts in normal form can be eighteen times as long, and must be shorter than 2 GiB.
  constexpr std::size_t kMostBytes = std::size_t{1} << 26U;
  RulePair pair(x.substr(0, kMostBytes), y.substr(0, kMostBytes), profile, scratch);
  auto side = PairSide::kBoth;
  for (const auto& rule : kRules) {
    if (rules.has(rule) && rule.breaks(pair, side)) return reason_of(rule, side);
  }
  return reasons::kNone;
}

}  // namespace phsic
