#include "decide/rule_pair.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <vector>

namespace phsic {
namespace {

using text::Normalization;
using text::Tokens;

const text::Tokenizer& rule_tokenizer() {
  static const text::Tokenizer kTokenizer("icu", Normalization::kNfc, text::Signs::kDropped);
  return kTokenizer;
}

// Words are looked at in so many bytes of a text. Nothing that rules look for needs more, and ICU's
// dictionaries take their time.
constexpr std::size_t kWordBytes = std::size_t{1} << 15U;

std::string_view beginning(std::string_view text) {
  if (text.size() <= kWordBytes) return text;
  auto end = kWordBytes;
  // Not within a character.
  while (end > kWordBytes - 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  return text.substr(0, end);
}

std::string_view without_white_space(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const auto begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

bool is_ascii_byte(char c) { return static_cast<unsigned char>(c) < 0x80; }

char lower_ascii(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); }

bool are_other_letters(char a, char b) {
  return is_ascii_byte(a) && is_ascii_byte(b) && lower_ascii(a) != lower_ascii(b);
}

// Where two texts first differ in more than ASCII's case.
std::size_t first_difference(std::string_view x, std::string_view y) {
  const auto both = std::min(x.size(), y.size());
  std::size_t at = 0;
  while (at < both && lower_ascii(x[at]) == lower_ascii(y[at])) ++at;
  return at;
}

// A number while its digits come: its hash, whatever zeros it begins with.
class NumberHash {
 public:
  void add(std::int32_t digit) {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
    is_open_ = true;
    if (hash_ != 0 || digit != 0) hash_ = (hash_ + static_cast<std::uint64_t>(digit) + 1) * kFactor;
  }
  [[nodiscard]] bool is_open() const { return is_open_; }
  void close(std::vector<std::uint64_t>& numbers) {
    if (is_open_) numbers.push_back(hash_);
    *this = {};
  }

 private:
  std::uint64_t hash_ = 0;
  bool is_open_ = false;
};

// What stands within numbers: 1.000,5  1'000  1 000 with a no-break space.
bool is_separator(std::int32_t point) {
  switch (point) {
    case '.':
    case ',':
    case '\'':
    case 0xA0:
    case 0x2019:
    case 0x2009:
    case 0x202F:
    case 0x66B:
    case 0x66C:
    case 0xFF0C:
    case 0xFF0E: return true;
    default: return false;
  }
}

// Three digits and no more after a space go on a number of at most three: "10 000".
bool is_group_at(std::string_view text, std::size_t at) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  return is_digit(at) && is_digit(at + 1) && is_digit(at + 2) && !is_digit(at + 3);
}

// The hashes of the text's numbers, sorted. With `joins`, separators within a number are left out.
void find_numbers(std::string_view text, bool joins, std::vector<std::uint64_t>& numbers) {
  numbers.clear();
  NumberHash number;
  std::size_t group = 0;    // digits since the last separator
  bool is_pending = false;  // a separator came, and nothing after it yet
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_character(text, at);
    const auto digit =
        point < 0x80 ? (point >= '0' && point <= '9' ? point - '0' : -1) : u_charDigitValue(point);
    if (digit >= 0) {
      number.add(digit);
      group = is_pending ? 1 : group + 1;
      is_pending = false;
      continue;
    }
    const bool goes_on =
        joins && number.is_open() && !is_pending &&
        (is_separator(point) || (point == ' ' && group <= 3 && is_group_at(text, at)));
    if (!goes_on) number.close(numbers);
    if (!goes_on) group = 0;
    is_pending = goes_on;
  }
  number.close(numbers);
  std::sort(numbers.begin(), numbers.end());
}

std::size_t count_characters(std::string_view word) {
  return static_cast<std::size_t>(std::count_if(word.begin(), word.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
  }));
}

// Whether `period` words come twice in a row that have more than `longest` characters together.
bool repeats(const Tokens& words, std::size_t period, std::size_t longest) {
  std::size_t same = 0;  // words in a row that stand `period` words before, too
  for (std::size_t i = period; i < words.size(); ++i) {
    same = words.word(i) == words.word(i - period) ? same + 1 : 0;
    if (same < period) continue;
    std::size_t characters = 0;
    for (std::size_t j = 0; j < period; ++j) characters += count_characters(words.word(i - j));
    if (characters > longest) return true;
  }
  return false;
}

}  // namespace

const TextFacts& RulePair::facts(std::size_t side) {
  if (!has_facts_[side]) facts_[side] = read_facts(texts_[side]);
  has_facts_[side] = true;
  return facts_[side];
}

const Tokens& RulePair::words(std::size_t side) {
  auto& tokens = scratch_.words[side];
  if (!has_words_[side]) rule_tokenizer().split(beginning(texts_[side]), tokens);
  has_words_[side] = true;
  return tokens;
}

bool are_identical(RulePair& pair) {
  auto x = core_of(pair.text(0));
  auto y = core_of(pair.text(1));
  if (x.empty() && y.empty()) {
    x = without_white_space(pair.text(0));
    y = without_white_space(pair.text(1));
  }
  if (x.empty() || y.empty()) return x.empty() && y.empty();
  const auto at = first_difference(x, y);
  if (at == x.size() && at == y.size()) return true;
  // Nearly all pairs end here, at their first or last letter.
  if (at < x.size() && at < y.size() && are_other_letters(x[at], y[at])) return false;
  if (are_other_letters(x.back(), y.back())) return false;
  if (std::all_of(x.begin(), x.end(), is_ascii_byte) &&
      std::all_of(y.begin(), y.end(), is_ascii_byte)) {
    return false;
  }
  auto& folded = pair.scratch().folded;
  text::normalize(x, Normalization::kNfkcCasefold, folded[0]);
  text::normalize(y, Normalization::kNfkcCasefold, folded[1]);
  return folded[0] == folded[1];
}

bool have_same_numbers(RulePair& pair) {
  auto& numbers = pair.scratch().numbers;
  // A date has separators in one language that join its numbers, and others in another.
  for (const bool joins : {true, false}) {
    find_numbers(pair.text(0), joins, numbers[0]);
    find_numbers(pair.text(1), joins, numbers[1]);
    if (numbers[0] == numbers[1]) return true;
  }
  return false;
}

bool is_title(const Tokens& words) {
  std::size_t capitalised = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::size_t at = 0;
    const auto first = next_character(words.word(i), at);
    if (!is_letter(first)) continue;
    if (u_isupper(first) == 0 && u_istitle(first) == 0) return false;
    ++capitalised;
  }
  return capitalised >= 2;
}

bool has_repeated_words(const Tokens& words) {
  constexpr std::size_t kLongestWord = 7;
  constexpr std::size_t kLongestPhrase = 15;
  constexpr std::size_t kMostWords = 4;
  if (repeats(words, 1, kLongestWord)) return true;
  for (std::size_t period = 2; period <= kMostWords; ++period) {
    if (repeats(words, period, kLongestPhrase)) return true;
  }
  return false;
}

}  // namespace phsic
