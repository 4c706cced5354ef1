#include "cli/text.h"

#include <fmt/format.h>

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

// Up to about `longest` bytes of it.
std::string printable_beginning(std::string_view text, std::size_t longest) {
  std::string fit;
  for (std::size_t at = 0; at < text.size();) {
    if (at >= longest) return fit + "…";
    const std::string_view sequence = text.substr(at, sequence_size(text[at]));
    const auto first = static_cast<unsigned char>(text[at]);
    // U+0080 to U+009F, which begin with 0xc2, command some terminals.
    const bool is_control = first < 0x20 || first == 0x7f ||
                            (first == 0xc2 && static_cast<unsigned char>(sequence.back()) < 0xa0);
    const bool is_fit = is_utf8(sequence) && !is_control;
    fit += is_fit ? sequence : "?";
    at += is_fit ? sequence.size() : 1;
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

std::string printable(std::string_view text) { return printable_beginning(text, text.size()); }

std::string quote(std::string_view text) {
  return fmt::format("\"{}\"", printable_beginning(text, kLongestQuote));
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
