// From text to words: normalised, then cut by ICU, at white space, or by a SentencePiece model.
//
// A Tokenizer is immutable and safe to share between threads; each thread brings Tokens of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phsic::text {

// The words of one text, and the memory they were found in. Reused from text to text.
class Tokens {
 public:
  Tokens();
  ~Tokens();
  Tokens(Tokens&&) noexcept;
  Tokens& operator=(Tokens&&) noexcept;
  Tokens(const Tokens&) = delete;
  Tokens& operator=(const Tokens&) = delete;

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  // UTF-8, never empty. Valid until the next split.
  [[nodiscard]] std::string_view word(std::size_t i) const {
    const auto first = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + first, ends_[i] - first};
  }
  // All words, one after the other, and where each ends. Valid until the next split.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::span<const std::size_t> ends() const { return ends_; }

  // Memory that is kept for the next text.
  [[nodiscard]] std::size_t held_bytes() const;

 private:
  friend class Tokenizer;
  struct Segmenter;  // ICU's state, made when first needed

  void clear();
  void add(std::string_view word);

  std::string bytes_;  // the words, one after the other
  std::vector<std::size_t> ends_;
  std::string normalized_;
  std::vector<std::string> pieces_;
  std::unique_ptr<Segmenter> segmenter_;
};

enum class Normalization : std::uint8_t {
  kNfc,           // composed: the same text always in the same bytes
  kNfkcCasefold,  // and compatible characters and cases made one
};

// What becomes of punctuation and symbols that "icu" finds between words.
enum class Signs : std::uint8_t { kDropped, kKept };

class Tokenizer {
 public:
  // `cut` is "icu" (the words of UAX #29, with dictionaries for Chinese, Japanese and Thai),
  // "whitespace", or the path of a SentencePiece model. Throws std::invalid_argument when there is
  // no such model.
  Tokenizer(const std::string& cut, Normalization normalization, Signs signs);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // What the words depend on besides the text; a hash stands for the model file.
  [[nodiscard]] const std::string& identity() const { return identity_; }

  // Whether every word ends at white space and depends on nothing beyond it. Not so with a
  // SentencePiece model.
  [[nodiscard]] bool ends_words_at_white_space() const { return cut_ != Cut::kPieces; }

  // Any bytes: what is not UTF-8 reads as U+FFFD.
  void split(std::string_view text, Tokens& tokens) const;

 private:
  enum class Cut : std::uint8_t { kIcu, kWhitespace, kPieces };
  struct Pieces;  // the SentencePiece model

  void split_into_pieces(std::string_view text, Tokens& tokens) const;
  void split_by_icu(std::string_view text, Tokens& tokens) const;
  static void split_at_white_space(std::string_view text, Tokens& tokens);

  Cut cut_;
  Normalization normalization_;
  Signs signs_;
  std::string identity_;
  std::unique_ptr<Pieces> pieces_;
};

// Writes `text` in normal form to `out`, with a grapheme joiner after at most 30 marks in a row
// (stream_safe.h). What is not UTF-8 becomes U+FFFD. Linear in the text.
void normalize(std::string_view text, Normalization normalization, std::string& out);

}  // namespace phsic::text
