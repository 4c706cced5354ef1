#include "engine/damage.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "text/characters.h"
#include "text/text_units.h"

namespace phsic {
namespace {

using text::TextUnit;
using text::TextUnits;
using Units = std::vector<TextUnit>;

// The share of units that words_missing and words_replaced change.
constexpr double kChanged = 0.3;
// A cut leaves so much at least, and at most the rest.
constexpr double kLeastShare = 0.3;
constexpr std::int32_t kNoCharacter = -1;

// A side that is damaged, the other side, and the same side of another pair.
struct Sides {
  std::string_view text;
  std::string_view opposite;
  std::string_view foreign;
};

// Makes a new text of Sides::text. Empty: it cannot.
using NewText = std::string (*)(const Sides& sides, Random& random);

// The character at `at` or after the white space there, which moves past it; none at the end.
std::int32_t next_visible(std::string_view text, std::size_t& at) {
  while (at < text.size()) {
    const auto point = text::next_character(text, at);
    if (!text::is_white_space(point)) return point;
  }
  return kNoCharacter;
}

// Whether two texts are the same but for white space and for which bytes are broken.
bool reads_as(std::string_view a, std::string_view b) {
  std::size_t at_a = 0;
  std::size_t at_b = 0;
  while (at_a < a.size() || at_b < b.size()) {
    if (next_visible(a, at_a) != next_visible(b, at_b)) return false;
  }
  return true;
}

bool reads_as(const DamagedPair& out, const TextPairView& pair) {
  return reads_as(out.x, pair.x) && reads_as(out.y, pair.y);
}

bool is_damaged(std::string_view text, const DamagedPair& out, const TextPairView& pair,
                const TextPairView& other) {
  return !reads_as(text, "") && !reads_as(out, pair) && !reads_as(out, other);
}

template <NewText new_text>
bool damage_right(const TextPairView& pair, const TextPairView& other, Random& random,
                  DamagedPair& out) {
  out.x = pair.x;
  out.y = new_text({pair.y, pair.x, other.y}, random);
  return is_damaged(out.y, out, pair, other);
}

template <NewText new_text>
bool damage_left(const TextPairView& pair, const TextPairView& other, Random& random,
                 DamagedPair& out) {
  out.x = new_text({pair.x, pair.y, other.x}, random);
  out.y = pair.y;
  return is_damaged(out.x, out, pair, other);
}

double draw_share(Random& random) { return kLeastShare + (1 - 2 * kLeastShare) * random.uniform(); }

// How many units are that share of them: neither none nor all. REQUIRES: two units.
std::size_t count_of(const TextUnits& units, double share) {
  const auto count = std::lround(share * static_cast<double>(units.size()));
  return std::clamp<std::size_t>(static_cast<std::size_t>(count), 1, units.size() - 1);
}

// The first units of one text, then the last ones of another, each cut at that share. Empty if one
// has fewer than two.
std::string splice(std::string_view first, std::string_view second, double share) {
  const TextUnits start(first);
  const TextUnits end(second);
  if (start.size() < 2 || end.size() < 2) return {};
  std::string spliced(start.part(0, count_of(start, share)));
  spliced += start.joiner();
  spliced += end.part(count_of(end, share), end.size());
  return spliced;
}

std::string mismatched(const Sides& sides, Random& /*random*/) {
  return std::string(sides.foreign);
}

std::string cut_off(const Sides& sides, Random& random) {
  const TextUnits units(sides.text);
  if (units.size() < 2) return {};
  return std::string(units.part(0, count_of(units, draw_share(random))));
}

std::string spliced(const Sides& sides, Random& random) {
  return splice(sides.text, sides.foreign, draw_share(random));
}

std::string scrambled(const Sides& sides, Random& random) {
  const TextUnits ordered(sides.text);
  if (ordered.size() < 3) return {};
  Units units(ordered.units().begin(), ordered.units().end());
  for (auto i = units.size(); i > 1; --i) std::swap(units[i - 1], units[random.below(i)]);
  const auto is_same = [](const TextUnit& a, const TextUnit& b) { return a.text == b.text; };
  if (std::equal(units.begin(), units.end(), ordered.units().begin(), is_same)) {
    std::rotate(units.begin(), units.begin() + 1, units.end());
  }
  return text::join(units);
}

std::string words_missing(const Sides& sides, Random& random) {
  const TextUnits all(sides.text);
  if (all.size() < 3) return {};
  Units kept;
  for (const auto& unit : all.units()) {
    if (random.uniform() >= kChanged) kept.push_back(unit);
  }
  const auto any = random.below(all.size());
  if (kept.empty()) kept.push_back(all.units()[any]);
  if (kept.size() == all.size()) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(any));
  return text::join(kept);
}

std::string words_replaced(const Sides& sides, Random& random) {
  const TextUnits own(sides.text);
  const TextUnits foreign(sides.foreign);
  if (own.size() < 2 || foreign.size() == 0) return {};
  Units units(own.units().begin(), own.units().end());
  // By how many bytes the text may still grow: one long word may be drawn many times.
  auto room = sides.foreign.size();
  bool is_changed = false;
  const auto replace = [&](TextUnit& unit) {
    const auto other = foreign.unit(random.below(foreign.size()));
    if (other == unit.text || other.size() > room + unit.text.size()) return;
    room = room + unit.text.size() - other.size();
    unit.text = other;
    is_changed = true;
  };
  for (auto& unit : units) {
    if (random.uniform() < kChanged) replace(unit);
  }
  if (!is_changed) replace(units[random.below(units.size())]);
  return is_changed ? text::join(units) : std::string();
}

// The whole of one text, then the whole of another. Empty if one of them is blank.
std::string glue(std::string_view first, std::string_view second) {
  const TextUnits units(first);
  if (units.size() == 0 || reads_as(second, "")) return {};
  std::string glued(first);
  glued += units.joiner();
  glued += second;
  return glued;
}

std::string repeated(const Sides& sides, Random& /*random*/) {
  return glue(sides.text, sides.text);
}

std::string glued(const Sides& sides, Random& /*random*/) {
  return glue(sides.text, sides.foreign);
}

std::string copied_in_part(const Sides& sides, Random& /*random*/) {
  return splice(sides.text, sides.opposite, 0.5);
}

constexpr DamageKind kDamageKinds[] = {
    {0, "mismatched", "y belongs to another x", false, damage_right<mismatched>},
    {1, "cut_off(right)", "the end of y is missing", true, damage_right<cut_off>},
    {2, "cut_off(left)", "the end of x is missing", true, damage_left<cut_off>},
    {3, "spliced(right)", "the end of y is that of another text", true, damage_right<spliced>},
    {4, "spliced(left)", "the end of x is that of another text", true, damage_left<spliced>},
    {5, "scrambled", "the words of y are out of order", true, damage_right<scrambled>},
    {6, "words_missing", "words of y are missing", true, damage_right<words_missing>},
    {7, "words_replaced", "words of y are those of another text", true,
     damage_right<words_replaced>},
    {8, "repeated", "y says everything twice", true, damage_right<repeated>},
    {9, "glued", "another text follows y", true, damage_right<glued>},
    {10, "copied_in_part", "the end of y is that of x", true, damage_right<copied_in_part>},
};

}  // namespace

std::span<const DamageKind> damage_kinds() { return kDamageKinds; }

}  // namespace phsic
