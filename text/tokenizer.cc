#include "text/tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uniset.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <stdexcept>

#include "text/file_hash.h"
#include "text/plain_words.h"
#include "text/stream_safe.h"

namespace phsic::text {
namespace {

void require(UErrorCode status, const char* what) {
  if (U_FAILURE(status)) {
    throw std::runtime_error(fmt::format("ICU cannot {}: {}", what, u_errorName(status)));
  }
}

const icu::Normalizer2& normalizer(Normalization normalization) {
  UErrorCode status = U_ZERO_ERROR;
  const auto* found = normalization == Normalization::kNfc
                          ? icu::Normalizer2::getNFCInstance(status)
                          : icu::Normalizer2::getNFKCCasefoldInstance(status);
  require(status, "normalise");
  return *found;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void append_normalized(std::string_view text, Normalization normalization, std::string& out) {
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&out);
  normalizer(normalization)
      .normalizeUTF8(0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr, status);
  require(status, "normalise a text");
}

// SentencePiece joins neighbours that it does not know one by one, which costs the square of their
// length. So a longer text comes to it in parts of at most so many bytes.
constexpr std::size_t kLongestPart = 16384;

// The first part of a text that is UTF-8. Ends before white space where its second half has some,
// since pieces end there in nearly every model.
std::string_view first_part(std::string_view text) {
  if (text.size() <= kLongestPart) return text;
  auto end = text.find_last_of(" \t\r\n", kLongestPart);
  if (end == std::string_view::npos || end < kLongestPart / 2) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    auto start = static_cast<int32_t>(kLongestPart);
    U8_SET_CP_START(bytes, 0, start);
    end = static_cast<std::size_t>(start);
  }
  return text.substr(0, end);
}

// The characters of scripts that are written without spaces and that ICU has no dictionary for.
const icu::UnicodeSet& uncut_characters() {
  static const icu::UnicodeSet kSet = [] {
    UErrorCode status = U_ZERO_ERROR;
    icu::UnicodeSet set(u"[[:lb=SA:]-[:sc=Thai:]-[:sc=Laoo:]-[:sc=Khmr:]-[:sc=Mymr:]]", status);
    require(status, "tell scripts");
    set.freeze();
    return set;
  }();
  return kSet;
}

// ICU searches its files for a dictionary at each change between two such scripts: 20 µs a
// character. It finds none and cuts nothing. So their characters are replaced by letters of Latin
// and Deseret, and their marks by marks, which are cut in the same places in less time.
void replace_uncut_characters(std::vector<char16_t>& units, int32_t length) {
  const auto& uncut = uncut_characters();
  for (int32_t at = 0; at < length;) {
    at += uncut.span(units.data() + at, length - at, USET_SPAN_NOT_CONTAINED);
    if (at >= length) return;
    UChar32 point = 0;
    int32_t end = at;
    U16_NEXT(units.data(), end, length, point);
    const bool is_mark = u_getIntPropertyValue(point, UCHAR_WORD_BREAK) == U_WB_EXTEND;
    const bool is_long = end - at == 2;
    const UChar32 like = is_mark ? (is_long ? 0xE0100 : 0x301) : (is_long ? 0x10400 : 'a');
    U16_APPEND_UNSAFE(units.data(), at, like);
  }
}

}  // namespace

void normalize(std::string_view text, Normalization normalization, std::string& out) {
  out.clear();
  if (is_ascii(text)) {
    out.assign(text);
    if (normalization == Normalization::kNfkcCasefold) {
      for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    return;
  }
  if (text.size() > INT32_MAX) throw std::length_error("a text is longer than 2 GiB");
  out.reserve(text.size());
  std::size_t begin = 0;
  // Normalised piece by piece, and joined afterwards: case folding would drop a joiner inside the
  // text.
  for (const auto cut : stream_safe_cuts(text)) {
    append_normalized(text.substr(begin, cut - begin), normalization, out);
    out.append(kGraphemeJoiner);
    begin = cut;
  }
  append_normalized(text.substr(begin), normalization, out);
}

struct Tokens::Segmenter {
  Segmenter() {
    UErrorCode status = U_ZERO_ERROR;
    breaks.reset(icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
    require(status, "find words");
  }

  std::unique_ptr<icu::BreakIterator> breaks;
  std::vector<char16_t> units;
  icu::UnicodeString text;  // reads `units`
};

Tokens::Tokens() = default;
Tokens::~Tokens() = default;
Tokens::Tokens(Tokens&&) noexcept = default;
Tokens& Tokens::operator=(Tokens&&) noexcept = default;

void Tokens::clear() {
  bytes_.clear();
  ends_.clear();
}

std::size_t Tokens::held_bytes() const {
  return bytes_.capacity() + normalized_.capacity() + ends_.capacity() * sizeof(std::size_t) +
         pieces_.capacity() * sizeof(std::string) +
         (segmenter_ ? segmenter_->units.capacity() * sizeof(char16_t) : 0);
}

void Tokens::add(std::string_view word) {
  bytes_.append(word);
  ends_.push_back(bytes_.size());
}

struct Tokenizer::Pieces {
  sentencepiece::SentencePieceProcessor processor;
};

Tokenizer::Tokenizer(const std::string& cut, Normalization normalization, Signs signs)
    : cut_(cut == "icu"          ? Cut::kIcu
           : cut == "whitespace" ? Cut::kWhitespace
                                 : Cut::kPieces),
      normalization_(normalization),
      signs_(signs),
      identity_(fmt::format("{}{} {} unicode-{}", cut, signs == Signs::kKept ? " with signs" : "",
                            normalization == Normalization::kNfc ? "nfc" : "nfkc-casefold",
                            U_UNICODE_VERSION)) {
  // ICU makes its tables at their first use: here, before threads share them.
  normalizer(normalization);
  static_cast<void>(stream_safe_cuts("\u0301"));
  if (cut_ == Cut::kIcu) Tokens::Segmenter();
  if (cut_ == Cut::kIcu) uncut_characters();
  if (cut_ != Cut::kPieces) return;
  const auto hash = file_hash(cut);
  pieces_ = std::make_unique<Pieces>();
  if (const auto status = pieces_->processor.Load(cut); !status.ok()) {
    throw std::invalid_argument(
        fmt::format("{}: not a SentencePiece model ({}); tokens is icu, whitespace or the path of "
                    "such a model",
                    cut, status.ToString()));
  }
  identity_ = fmt::format("sentencepiece {} {}", hash,
                          normalization == Normalization::kNfc ? "nfc" : "nfkc-casefold");
}

Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

void Tokenizer::split(std::string_view text, Tokens& tokens) const {
  tokens.clear();
  normalize(text, normalization_, tokens.normalized_);
  // ICU counts in 32 bits, and normal forms can be longer than the text.
  if (tokens.normalized_.size() >= INT32_MAX) {
    throw std::length_error("a text is longer than 2 GiB");
  }
  const std::string_view normal = tokens.normalized_;
  switch (cut_) {
    case Cut::kIcu:
      if (is_plain(normal)) {
        for_each_plain_word(
            normal, [&](std::string_view word) { tokens.add(word); },
            [&](std::string_view sign) {
              if (signs_ == Signs::kKept) tokens.add(sign);
            });
      } else {
        split_by_icu(normal, tokens);
      }
      return;
    case Cut::kWhitespace: split_at_white_space(normal, tokens); return;
    case Cut::kPieces: split_into_pieces(normal, tokens); return;
  }
}

void Tokenizer::split_into_pieces(std::string_view text, Tokens& tokens) const {
  do {
    const auto part = first_part(text);
    pieces_->processor.Encode(part, &tokens.pieces_).IgnoreError();
    for (const auto& piece : tokens.pieces_) {
      if (!piece.empty()) tokens.add(piece);
    }
    text.remove_prefix(part.size());
  } while (!text.empty());
}

void Tokenizer::split_at_white_space(std::string_view text, Tokens& tokens) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto size = static_cast<int32_t>(text.size());
  int32_t begin = 0;
  for (int32_t at = 0; at < size;) {
    const int32_t here = at;
    UChar32 point = 0;
    U8_NEXT_OR_FFFD(bytes, at, size, point);
    if (!u_isUWhiteSpace(point)) continue;
    if (here > begin) tokens.add(text.substr(begin, here - begin));
    begin = at;
  }
  if (size > begin) tokens.add(text.substr(begin));
}

void Tokenizer::split_by_icu(std::string_view text, Tokens& tokens) const {
  if (!tokens.segmenter_) tokens.segmenter_ = std::make_unique<Tokens::Segmenter>();
  auto& [breaks, units, alias] = *tokens.segmenter_;
  units.resize(text.size() + 1);
  int32_t length = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strFromUTF8WithSub(units.data(), static_cast<int32_t>(units.size()), &length, text.data(),
                       static_cast<int32_t>(text.size()), 0xFFFD, nullptr, &status);
  require(status, "read a text");
  replace_uncut_characters(units, length);
  alias.setTo(false, units.data(), length);
  breaks->setText(alias);

  // Walks through both forms of the text at once: breaks are in UTF-16, words are taken in UTF-8.
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  int32_t unit = 0;
  int32_t byte = 0;
  for (auto end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
    const int32_t begin = byte;
    const auto first = alias.char32At(unit);
    while (unit < end) {
      UChar32 point = 0;
      U8_NEXT_OR_FFFD(bytes, byte, static_cast<int32_t>(text.size()), point);
      unit += U16_LENGTH(point);
    }
    const bool is_word = breaks->getRuleStatus() >= UBRK_WORD_NONE_LIMIT;
    if (is_word || (signs_ == Signs::kKept && u_isgraph(first))) {
      tokens.add(text.substr(begin, byte - begin));
    }
  }
}

}  // namespace phsic::text
