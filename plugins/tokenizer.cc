#include "plugins/tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <stdexcept>

#include "plugins/file_hash.h"
#include "plugins/plain_words.h"

namespace phsic::plugins {
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
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&out, static_cast<int32_t>(text.size()));
  normalizer(normalization)
      .normalizeUTF8(0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr, status);
  require(status, "normalise a text");
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
  if (cut_ == Cut::kIcu) Tokens::Segmenter();
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
    case Cut::kPieces:
      pieces_->processor.Encode(normal, &tokens.pieces_).IgnoreError();
      for (const auto& piece : tokens.pieces_) {
        if (!piece.empty()) tokens.add(piece);
      }
      return;
  }
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

}  // namespace phsic::plugins
