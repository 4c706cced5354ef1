#include "wire/printable.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/spectrum.h"

namespace phsic {
namespace {

constexpr std::size_t kLongestQuote = 60;
constexpr std::size_t kMostQuotes = 12;

// As the first byte says, whether or not that is true.
std::size_t sequence_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

// U+0000 to U+001F, U+007F and U+0080 to U+009F command terminals. U+2028 and U+2029 end lines,
// U+202A to U+202E and U+2066 to U+206F let what follows be written backwards. The marks U+200E and
// U+200F, which texts in Arabic or Hebrew need, turn nothing but their own place.
bool is_fit(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0) >= 0x20 && byte(0) != 0x7f;
  if (byte(0) == 0xc2) return byte(1) >= 0xa0;
  if (byte(0) != 0xe2) return true;
  const bool is_turn = (byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||
                       (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xaf);
  return !is_turn;
}

// What follows is the end of a line, or a tab.
bool is_layout(std::string_view rest) {
  return rest.front() == '\n' || rest.front() == '\t' || rest.starts_with("\r\n");
}

enum class Layout { kNone, kKept };

// Up to about `longest` bytes of it.
std::string printable_beginning(std::string_view text, std::size_t longest, Layout layout) {
  std::string fit;
  for (std::size_t at = 0; at < text.size();) {
    if (at >= longest) return fit + "…";
    const std::string_view sequence = text.substr(at, sequence_size(text[at]));
    const bool is_whole = is_utf8(sequence);
    const bool stays =
        (is_whole && is_fit(sequence)) || (layout == Layout::kKept && is_layout(text.substr(at)));
    fit += stays ? sequence : "?";
    at += is_whole ? sequence.size() : 1;
  }
  return fit;
}

}  // namespace

std::size_t utf8_prefix(std::string_view text) {
  if (is_utf8(text)) return text.size();
  std::size_t at = 0;
  while (true) {
    const std::size_t size = sequence_size(text[at]);
    if (!is_utf8(text.substr(at, size))) return at;
    at += size;
  }
}

std::string to_json(std::string_view text) {
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
  };
  if (std::all_of(text.begin(), text.end(), is_plain) && is_utf8(text)) {
    return fmt::format("\"{}\"", text);
  }
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json(text).dump(-1, ' ', false, kReplace);
}

std::string printable(std::string_view text) {
  return printable_beginning(text, text.size(), Layout::kNone);
}

std::string printable_lines(std::string_view text) {
  return printable_beginning(text, text.size(), Layout::kKept);
}

std::string for_output(std::string_view text) {
  static const bool kIsTerminal = ::isatty(STDOUT_FILENO) == 1;
  return kIsTerminal ? printable_lines(text) : std::string(text);
}

std::string quote(std::string_view text) {
  return fmt::format("\"{}\"", printable_beginning(text, kLongestQuote, Layout::kNone));
}

std::string quote(std::span<const std::string_view> texts) {
  std::string list;
  for (const std::string_view text : texts.first(std::min(texts.size(), kMostQuotes))) {
    if (!list.empty()) list += ", ";
    list += quote(text);
  }
  if (texts.size() > kMostQuotes) list += ", …";
  return list;
}

}  // namespace phsic
