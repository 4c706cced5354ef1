#include "decide/text_noise.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "decide/text_facts.h"

namespace phsic {
namespace {

bool is_white_space(std::int32_t point) {
  return point < 0x80 ? point == ' ' || (point >= '\t' && point <= '\r')
                      : u_isUWhiteSpace(point) != 0;
}

// The next run of characters between white space, which `at` moves past; empty at the end.
std::string_view next_chunk(std::string_view text, std::size_t& at) {
  auto begin = at;
  while (at < text.size()) {
    const auto here = at;
    if (!is_white_space(next_character(text, at))) continue;
    if (here > begin) return text.substr(begin, here - begin);
    begin = at;
  }
  return text.substr(begin);
}

bool is_host_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

// The host that a chunk begins with; empty if what is there has no dot inside.
std::string_view host_of(std::string_view chunk) {
  const auto* const end = std::find_if_not(chunk.begin(), chunk.end(), is_host_letter);
  const auto host = chunk.substr(0, static_cast<std::size_t>(end - chunk.begin()));
  const auto dot = host.find('.');
  const bool has_dot_inside = dot != std::string_view::npos && dot > 0 && dot + 2 < host.size();
  return has_dot_inside ? host : std::string_view();
}

// Brackets and quotation marks of ASCII before it aside.
bool is_address(std::string_view chunk) {
  chunk.remove_prefix(std::min(chunk.find_first_not_of("([<{\"'"), chunk.size()));
  if (chunk.find("://") != std::string_view::npos || chunk.substr(0, 4) == "www." ||
      chunk.substr(0, 7) == "mailto:") {
    return true;
  }
  const auto at_sign = chunk.find('@');
  if (at_sign != std::string_view::npos && at_sign > 0) {
    return !host_of(chunk.substr(at_sign + 1)).empty();
  }
  const auto host = host_of(chunk);
  return !host.empty() && host.size() < chunk.size() && chunk[host.size()] == '/';
}

// Signs that menus have between their parts, and good texts hardly ever.
bool is_strong_crumb(std::int32_t point) {
  return point == 0xBB || point == 0x2192 || point == 0x2190 || point == 0x2022 || point == 0xB7;
}

// A capital after a small letter, within a word: counts them, and how long the word is.
struct CasedRun {
  std::size_t letters = 0;
  std::size_t capitals_inside = 0;
  bool is_after_small = false;

  void add(bool is_upper) {
    ++letters;
    if (is_upper && is_after_small) ++capitals_inside;
    is_after_small = !is_upper;
  }
};

// The mask of a character's kind; of ASCII, only letters are told.
std::uint32_t kind_of(std::int32_t point) {
  if (point >= 0x80) return U_GET_GC_MASK(point);
  if (point >= 'a' && point <= 'z') return U_GC_LL_MASK;
  return point >= 'A' && point <= 'Z' ? U_GC_LU_MASK : 0;
}

bool is_noise(std::int32_t point) {
  constexpr auto kNever = U_GC_CO_MASK | U_GC_CN_MASK | U_GC_CS_MASK | U_GC_CC_MASK;
  if (point < 0x80) return (point < ' ' && !is_white_space(point)) || point == 0x7F;
  return (point >= 0x2500 && point <= 0x259F) || point == 0xFFFD ||
         (U_GET_GC_MASK(point) & kNever) != 0;
}

bool is_spaced_script(std::int32_t point) {
  return point < 0x80 || u_getIntPropertyValue(point, UCHAR_EAST_ASIAN_WIDTH) != U_EA_WIDE;
}

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::size_t hexadecimal_digits(std::string_view text) {
  const auto* const end = std::find_if_not(
      text.begin(), text.begin() + std::min<std::ptrdiff_t>(std::ssize(text), 8), is_hexadecimal);
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

bool has_literals(std::string_view text) {
  constexpr std::string_view kLiterals[] = {"Re:", "{{", "%s", "}}", "+++", "***", "=\""};
  return std::any_of(std::begin(kLiterals), std::end(kLiterals), [&](std::string_view literal) {
    return text.find(literal) != std::string_view::npos;
  });
}

bool is_mostly_addresses(std::string_view text) {
  std::size_t bytes = 0;
  std::size_t of_addresses = 0;
  std::size_t at = 0;
  for (auto chunk = next_chunk(text, at); !chunk.empty(); chunk = next_chunk(text, at)) {
    bytes += chunk.size();
    if (is_address(chunk)) of_addresses += chunk.size();
  }
  return of_addresses > 0 && 2 * of_addresses >= bytes;
}

bool has_breadcrumbs(std::string_view text) {
  constexpr std::size_t kMostStrong = 1;
  constexpr std::size_t kMostWeak = 2;
  auto strong = static_cast<std::size_t>(std::count(text.begin(), text.end(), '|'));
  std::size_t weak = 0;
  bool is_quoted = false;  // by « of French, whose » stands between spaces, too
  std::size_t at = 0;
  for (auto chunk = next_chunk(text, at); !chunk.empty(); chunk = next_chunk(text, at)) {
    const bool is_first = chunk.data() == text.data();
    std::size_t end = 0;
    const auto point = next_character(chunk, end);
    if (point == 0xAB) is_quoted = true;
    if (end != chunk.size()) {
      if (chunk == "::") ++weak;
      continue;
    }
    const bool closes = point == 0xBB && is_quoted;
    if (closes) is_quoted = false;
    if (is_first || closes) continue;  // a bullet before the text is none between its parts
    if (is_strong_crumb(point)) ++strong;
    if (point == '-' || point == '/' || point == '>' || point == ':') ++weak;
  }
  return strong > kMostStrong || weak > kMostWeak;
}

bool has_glued_words(std::string_view text) {
  constexpr std::size_t kMostCapitals = 1;
  constexpr std::size_t kLongestWord = 60;
  CasedRun run;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_character(text, at);
    const auto kind = kind_of(point);
    if ((kind & U_GC_M_MASK) != 0) continue;
    if ((kind & U_GC_LC_MASK) == 0) {
      run = {};
      continue;
    }
    run.add((kind & U_GC_LL_MASK) == 0);
    if (run.capitals_inside > kMostCapitals || run.letters > kLongestWord) return true;
  }
  return false;
}

bool has_unicode_noise(std::string_view text) {
  constexpr std::size_t kMostNoise = 2;
  constexpr std::size_t kMostAccents = 6;
  constexpr std::size_t kMostMarks = 5;
  std::size_t noise = 0;
  std::size_t visible = 0;
  std::size_t accents = 0;
  std::size_t marks = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_character(text, at);
    if (point > ' ' && point < 0x7F) {  // nearly always
      accents = marks = 0;
      ++visible;
      continue;
    }
    accents = point >= 0x80 && point <= 0xFF ? accents + 1 : 0;
    marks = (U_GET_GC_MASK(point) & U_GC_M_MASK) != 0 ? marks + 1 : 0;
    if (is_noise(point)) ++noise;
    if (!is_white_space(point)) ++visible;
    if (accents > kMostAccents || marks > kMostMarks || noise > kMostNoise) return true;
  }
  return noise > 0 && 10 * noise >= visible;
}

bool has_space_noise(std::string_view text) {
  constexpr std::size_t kMostAlone = 4;
  std::size_t alone = 0;
  std::size_t at = 0;
  for (auto chunk = next_chunk(text, at); !chunk.empty(); chunk = next_chunk(text, at)) {
    std::size_t end = 0;
    const auto point = next_character(chunk, end);
    const bool is_alone = end == chunk.size() && is_letter(point) && is_spaced_script(point);
    alone = is_alone ? alone + 1 : 0;
    if (alone > kMostAlone) return true;
  }
  return false;
}

bool has_escapes(std::string_view text) {
  for (auto at = text.find_first_of("\\&"); at < text.size();
       at = text.find_first_of("\\&", at + 1)) {
    const auto rest = text.substr(at + 1);
    if (text[at] == '\\' && !rest.empty() && (rest[0] == 'x' || rest[0] == 'u' || rest[0] == 'U')) {
      if (rest.size() > 1 && rest[1] == '{') return true;
      if (hexadecimal_digits(rest.substr(1)) >= 2) return true;
    }
    if (text[at] == '&' && !rest.empty() && rest[0] == '#') {
      const bool is_hex = rest.size() > 1 && (rest[1] == 'x' || rest[1] == 'X');
      const auto number = rest.substr(is_hex ? 2 : 1);
      const auto digits = hexadecimal_digits(number);
      if (digits > 0 && digits < number.size() && number[digits] == ';') return true;
    }
  }
  return false;
}

Brackets count_brackets(std::string_view text) {
  // Square, curly, angle, and those of Chinese and Japanese: opening, closing.
  constexpr std::array<std::array<std::int32_t, 2>, 5> kKinds = {
      {{'[', ']'}, {'{', '}'}, {0x27E8, 0x27E9}, {0x3010, 0x3011}, {0x3014, 0x3015}}};
  std::array<std::array<std::size_t, 2>, kKinds.size()> counts{};
  Brackets brackets;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_character(text, at);
    if (point == '(' || point == 0xFF08) ++brackets.opening;
    if (point == ')' || point == 0xFF09) ++brackets.closing;
    // No letter of ASCII, Latin or Cyrillic is a bracket.
    const bool is_ascii_letter = point < '[' || (point >= 'a' && point <= 'z');
    if (is_ascii_letter || (point > '}' && point < 0x27E8)) continue;
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      for (std::size_t i = 0; i < 2; ++i) counts[kind][i] += point == kKinds[kind][i] ? 1 : 0;
    }
  }
  brackets.are_bad = std::any_of(counts.begin(), counts.end(), [](const auto& count) {
    constexpr std::size_t kMost = 6;
    return count[0] != count[1] || count[0] + count[1] > kMost;
  });
  return brackets;
}

}  // namespace phsic
