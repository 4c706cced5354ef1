#include "cli/text.h"

#include <algorithm>

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

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    if (at >= kLongestQuote) {
      quoted += "…";
      break;
    }
    const std::string_view sequence = text.substr(at, sequence_size(text[at]));
    const auto first = static_cast<unsigned char>(text[at]);
    // U+0080 to U+009F, which begin with 0xc2, command some terminals.
    const bool is_control = first < 0x20 || first == 0x7f ||
                            (first == 0xc2 && static_cast<unsigned char>(sequence.back()) < 0xa0);
    const bool is_fit = is_utf8(sequence) && !is_control;
    quoted += is_fit ? sequence : "?";
    at += is_fit ? sequence.size() : 1;
  }
  return quoted + '"';
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
