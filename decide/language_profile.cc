#include "decide/language_profile.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "decide/text_facts.h"

namespace phsic {
namespace {

constexpr std::size_t kTrigramCells = 4096;
constexpr std::size_t kScripts = 256;
// Counts stay below, so that sums of their squares are exact.
constexpr std::uint64_t kMostRuns = std::uint64_t{1} << 26U;
constexpr std::uint64_t kMostTexts = std::uint64_t{1} << 26U;

// What must have been learned before anything is told.
constexpr std::uint64_t kFewestPairs = 300;
constexpr std::uint64_t kFewestRuns = 3000;
// Letters of a text of which anything is told.
constexpr std::size_t kFewestLetters = 3;

constexpr std::array<std::uint8_t, 128> kAsciiLetters = [] {
  std::array<std::uint8_t, 128> lower{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) {
    lower[c] = lower[c - 'a' + 'A'] = static_cast<std::uint8_t>(c);
  }
  return lower;
}();

// A letter in lower case; 0 for everything else, which parts words.
std::uint32_t folded_letter(std::int32_t point) {
  if (point < 0x80) return kAsciiLetters[static_cast<std::size_t>(point)];
  if (!is_letter(point)) return 0;
  return static_cast<std::uint32_t>(u_foldCase(point, U_FOLD_CASE_DEFAULT));
}

bool is_mark(std::int32_t point) {
  return point >= 0x300 && (U_GET_GC_MASK(point) & U_GC_M_MASK) != 0;
}

// Calls take(cell) for each run of three letters, the ends of words being letters, too.
template <class Take>
void for_each_trigram(std::string_view text, const Take& take) {
  constexpr unsigned kLetterBits = 21;
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  // The letters before the next one; several ends of words in a row count as one.
  std::uint64_t last = 0;
  std::uint64_t second_last = 0;
  bool is_end = false;
  for (std::size_t at = 0; !is_end;) {
    is_end = at == text.size();  // which ends a word, as a space does
    const auto point = is_end ? ' ' : next_character(text, at);
    if (is_mark(point)) continue;
    const std::uint64_t letter = folded_letter(point);
    const bool goes_on = (letter | last) != 0;
    const auto run = second_last << (2 * kLetterBits) | last << kLetterBits | letter;
    // The first letter of a word has only its beginning before it.
    const bool is_whole = (letter | second_last) != 0;
    if (goes_on && is_whole) take(static_cast<std::size_t>(run * kFactor >> 52U));
    // Not a branch: where words end cannot be predicted.
    second_last = goes_on ? last : second_last;
    last = letter;
  }
}
static_assert(kTrigramCells == std::size_t{1} << (64 - 52));

std::size_t script_of(std::int32_t point) {
  if (point < 0x250 && point != 0xAA && point != 0xBA) return USCRIPT_LATIN;
  UErrorCode status = U_ZERO_ERROR;
  const auto script = static_cast<std::size_t>(uscript_getScript(point, &status));
  return std::min(script, kScripts - 1);
}

struct MainScript {
  std::size_t script = 0;
  std::size_t letters = 0;  // of all scripts, or at least so many
  bool is_most = false;     // of more than half of them
};

// By Boyer and Moore's vote, which needs no table: the script of more than half of the letters is
// what remains. A second pass counts it.
MainScript vote_on_script(std::string_view text) {
  MainScript main;
  std::size_t votes = 0;
  const auto for_each_letter = [&](const auto& take) {
    for (std::size_t at = 0; at < text.size();) {
      const auto point = next_character(text, at);
      if (folded_letter(point) != 0) take(script_of(point));
    }
  };
  for_each_letter([&](std::size_t script) {
    ++main.letters;
    if (votes == 0) main.script = script;
    votes = script == main.script ? votes + 1 : votes - 1;
  });
  if (votes == main.letters) {
    main.is_most = votes > 0;
    return main;
  }
  std::size_t count = 0;
  for_each_letter([&](std::size_t script) { count += script == main.script ? 1 : 0; });
  main.is_most = 2 * count > main.letters;
  return main;
}

MainScript main_script(std::string_view text) {
  // Bytes tell it of most texts in Latin letters: every other letter has two of them or more.
  std::size_t ascii_letters = 0;
  std::size_t other_bytes = 0;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    ascii_letters += static_cast<std::uint8_t>((byte | 0x20U) - 'a') < 26 ? 1 : 0;
    other_bytes += byte >> 7U;
  }
  if (ascii_letters >= kFewestLetters && 2 * ascii_letters > other_bytes) {
    return {USCRIPT_LATIN, ascii_letters, true};
  }
  return vote_on_script(text);
}

// The mean of log ratios, whose logarithm is taken of many at once.
class MeanLogRatio {
 public:
  void add(double ratio) {
    product_ *= ratio;
    ++count_;
    // Each ratio lies within 2^±60, and a double reaches 2^±1023.
    constexpr std::size_t kTogether = 16;
    if (count_ % kTogether == 0) fold();
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] double mean() {
    fold();
    return count_ > 0 ? sum_ / static_cast<double>(count_) : 0;
  }

 private:
  void fold() {
    sum_ += std::log(product_);
    product_ = 1;
  }

  double product_ = 1;
  double sum_ = 0;
  std::size_t count_ = 0;
};

void halve(std::vector<std::uint32_t>& counts) {
  for (auto& count : counts) count /= 2;
}

std::uint32_t saturating_sum(std::uint32_t a, std::uint32_t b) {
  return a + std::min(b, std::numeric_limits<std::uint32_t>::max() - a);
}

void add_counts(std::vector<std::uint32_t>& counts, const std::vector<std::uint32_t>& others) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = saturating_sum(counts[i], others[i]);
}

std::uint64_t sum_of(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

LanguageProfile::LanguageProfile() {
  for (Side* side : {&x_, &y_}) {
    side->scripts.resize(kScripts);
    side->trigrams.resize(kTrigramCells);
  }
}

void LanguageProfile::learn_side(std::string_view text, Side& side, const Side& other) {
  const auto main = main_script(text);
  if (main.is_most) {
    ++side.scripts[main.script];
    ++side.texts;
  }
  // A text longer than any language needs must not overflow what is bounded between two texts.
  constexpr std::size_t kLongest = std::size_t{1} << 20U;
  // Sums that stay in registers; members would be written for each run.
  const auto* others = other.trigrams.data();
  auto* own = side.trigrams.data();
  std::uint64_t runs = 0;
  std::uint64_t counts = 0;
  std::uint64_t products = 0;
  for_each_trigram(text.substr(0, kLongest), [&](std::size_t cell) {
    counts += own[cell];
    products += others[cell];
    ++own[cell];
    ++runs;
  });
  // (n + 1)^2 is n^2 + 2n + 1.
  side.squares += 2 * counts + runs;
  products_ += products;
  side.runs += runs;
}

void LanguageProfile::learn(std::string_view x, std::string_view y) {
  learn_side(x, x_, y_);
  learn_side(y, y_, x_);
  if (pairs_ < std::numeric_limits<std::uint64_t>::max()) ++pairs_;
  settle();
}

void LanguageProfile::settle() {
  if (x_.runs <= kMostRuns && y_.runs <= kMostRuns && x_.texts <= kMostTexts &&
      y_.texts <= kMostTexts) {
    return;
  }
  for (Side* side : {&x_, &y_}) {
    while (sum_of(side->trigrams) > kMostRuns) halve(side->trigrams);
    while (sum_of(side->scripts) > kMostTexts) halve(side->scripts);
  }
  sum_up();
}

void LanguageProfile::sum_up() {
  const auto product_of = [](const Side& a, const Side& b) {
    return std::inner_product(a.trigrams.begin(), a.trigrams.end(), b.trigrams.begin(),
                              std::uint64_t{0}, std::plus<>(),
                              [](std::uint64_t i, std::uint64_t j) { return i * j; });
  };
  for (Side* side : {&x_, &y_}) {
    side->texts = sum_of(side->scripts);
    side->runs = sum_of(side->trigrams);
    side->squares = product_of(*side, *side);
  }
  products_ = product_of(x_, y_);
}

bool LanguageProfile::are_sides_alike() const {
  // The cosine of the counts: .98 and more for English on both sides, .5 for German and English.
  constexpr double kAlike = 0.85;
  const auto products = static_cast<double>(products_);
  return products * products >=
         kAlike * kAlike * static_cast<double>(x_.squares) * static_cast<double>(y_.squares);
}

bool LanguageProfile::is_of_other_side(std::string_view text, bool is_x) const {
  const Side& own = is_x ? x_ : y_;
  const Side& other = is_x ? y_ : x_;
  if (pairs_ < kFewestPairs || own.runs < kFewestRuns || other.runs < kFewestRuns) return false;
  if (are_sides_alike()) return false;
  // A run that never came is not impossible.
  constexpr double kPrior = 0.5;
  constexpr auto kCells = static_cast<double>(kTrigramCells);
  const double scale = (static_cast<double>(own.runs) + kPrior * kCells) /
                       (static_cast<double>(other.runs) + kPrior * kCells);
  MeanLogRatio ratio;
  for_each_trigram(text, [&](std::size_t cell) {
    ratio.add(scale * (other.trigrams[cell] + kPrior) / (own.trigrams[cell] + kPrior));
  });
  constexpr std::size_t kFewest = 12;
  constexpr double kClearly = 0.7;
  return ratio.count() >= kFewest && ratio.mean() > kClearly;
}

bool LanguageProfile::is_of_rare_script(std::string_view text, bool is_x) const {
  const Side& side = is_x ? x_ : y_;
  if (side.texts < kFewestPairs) return false;
  const auto main = main_script(text);
  if (!main.is_most || main.letters < kFewestLetters) return false;
  // Some texts may stand on the wrong side; a side of several scripts has none that is rare.
  constexpr std::uint64_t kRareOneIn = 12;
  const std::uint64_t most = *std::max_element(side.scripts.begin(), side.scripts.end());
  return 4 * most >= 3 * side.texts && kRareOneIn * side.scripts[main.script] < side.texts;
}

void LanguageProfile::merge(const LanguageProfile& other) {
  add_counts(x_.scripts, other.x_.scripts);
  add_counts(x_.trigrams, other.x_.trigrams);
  add_counts(y_.scripts, other.y_.scripts);
  add_counts(y_.trigrams, other.y_.trigrams);
  pairs_ += std::min(other.pairs_, std::numeric_limits<std::uint64_t>::max() - pairs_);
  sum_up();
  settle();
}

void LanguageProfile::save(Writer& writer) const {
  writer.number(pairs_);
  for (const Side* side : {&x_, &y_}) {
    writer.array(side->scripts);
    writer.array(side->trigrams);
  }
}

LanguageProfile LanguageProfile::load(Reader& reader) {
  LanguageProfile profile;
  profile.pairs_ = reader.number<std::uint64_t>("profile.pairs");
  const auto require_sum = [&](const char* field, std::uint64_t sum, std::uint64_t most) {
    if (sum > most)
      reader.refuse(field, fmt::format("found counts of {}, expected up to {}", sum, most));
  };
  for (Side* side : {&profile.x_, &profile.y_}) {
    side->scripts = reader.array<std::uint32_t>("profile.scripts", kScripts);
    require_sum("profile.scripts", sum_of(side->scripts), kMostTexts);
    side->trigrams = reader.array<std::uint32_t>("profile.trigrams", kTrigramCells);
    require_sum("profile.trigrams", sum_of(side->trigrams), kMostRuns);
  }
  profile.sum_up();
  return profile;
}

}  // namespace phsic
