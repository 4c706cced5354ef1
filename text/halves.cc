#include "text/halves.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "text/characters.h"

namespace phsic::text {
namespace {

constexpr std::size_t kFewestCharacters = 4;  // of what is cut between two of them

// A place to cut: the first half ends at `end`, the second starts at `start`. White space lies
// between them, if anything does.
struct CutPlace {
  std::size_t end = 0;
  std::size_t start = 0;
  std::size_t distance = std::numeric_limits<std::size_t>::max();  // from the middle, twice

  [[nodiscard]] bool is_found() const { return start > 0; }
};

// What of a text lies between the white space around it. Positions are compared with its middle and
// quarters in multiples of them, which are whole numbers.
struct Inside {
  std::size_t begin;
  std::size_t end;

  [[nodiscard]] bool is_central(const CutPlace& place) const {
    return 4 * place.start >= 3 * begin + end && 4 * place.end <= begin + 3 * end;
  }
  [[nodiscard]] bool is_behind_centre(std::size_t at) const { return 4 * at > begin + 3 * end; }
  [[nodiscard]] CutPlace place(std::size_t first_end, std::size_t second_start) const {
    const auto middle = begin + end;
    const auto nearest = std::clamp(middle, 2 * first_end, 2 * second_start);
    return {first_end, second_start, std::max(middle, nearest) - std::min(middle, nearest)};
  }
};

Inside inside_of(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); begin = at) {
    if (!is_white_space(next_character(text, at))) break;
  }
  auto end = text.size();
  while (end > begin) {
    // Of the text only what its last character may be: ICU's positions have 32 bits.
    const auto last = std::min<std::size_t>(end - begin, U8_MAX_LENGTH);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data()) + (end - last);
    auto at = static_cast<std::int32_t>(last);
    std::int32_t point = 0;
    U8_PREV_OR_FFFD(bytes, 0, at, point);
    if (!is_white_space(point)) break;
    end -= last - static_cast<std::size_t>(at);
  }
  return {begin, end};
}

}  // namespace

Halves halves_of(std::string_view text) {
  const auto inside = inside_of(text);
  CutPlace at_space;
  CutPlace anywhere;
  std::size_t characters = 0;  // no more are counted than matter
  auto end = inside.begin;     // of what is not white space so far
  for (auto at = inside.begin; at < inside.end;) {
    const auto start = at;
    const auto point = next_character(text, at);
    if (is_white_space(point)) continue;
    const auto place = inside.place(end, start);
    end = at;
    auto& best = place.end < place.start && inside.is_central(place) ? at_space : anywhere;
    const bool is_nearer = start > inside.begin && place.distance < best.distance;
    // Whether it is a mark is asked last: that takes longest.
    if ((is_nearer || characters < kFewestCharacters) && !is_mark(point)) {
      ++characters;
      if (is_nearer) best = place;
    }
    if (!inside.is_behind_centre(start)) continue;
    if (at_space.is_found() || (anywhere.is_found() && characters >= kFewestCharacters)) break;
  }
  const bool may_be_anywhere = anywhere.is_found() && characters >= kFewestCharacters;
  if (!at_space.is_found() && !may_be_anywhere) return {text, text};
  const auto& cut = at_space.is_found() ? at_space : anywhere;
  return {text.substr(0, cut.end), text.substr(cut.start)};
}

}  // namespace phsic::text
