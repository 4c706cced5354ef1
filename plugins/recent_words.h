// The words of the texts that were cut lately, for encoders that cut alike: the views of a stream
// encode the same texts one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace phsic::plugins {

// The words of one text. Valid until whoever gave them is asked again.
class Words {
 public:
  Words(const char* bytes, const std::size_t* ends, std::size_t size)
      : bytes_(bytes), ends_(ends), size_(size) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view word(std::size_t i) const {
    const auto first = i == 0 ? 0 : ends_[i - 1];
    return {bytes_ + first, ends_[i] - first};
  }

 private:
  const char* bytes_;
  const std::size_t* ends_;
  std::size_t size_;
};

// What one thread remembers, in bounded memory: there is a place for each hash of a text, and when
// texts and words have kMostBytes together all is forgotten.
class RecentWords {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  static constexpr std::size_t kLongest = std::size_t{1} << 16U;

  // The words of the text as `tokenizer` cuts it. The same `cut`, above 0, is to stand for
  // tokenizers that cut alike, and for no others. REQUIRES: no more than kLongest bytes.
  Words split(std::uint64_t cut, const text::Tokenizer& tokenizer, std::string_view text);
  // How often a text was not remembered.
  [[nodiscard]] std::uint64_t misses() const { return misses_; }

 private:
  struct Place {
    std::uint64_t cut = 0;    // 0: nothing is here
    std::uint32_t bytes = 0;  // where the text begins, and right after it the words
    std::uint32_t text_size = 0;
    std::uint32_t ends = 0;
    std::uint32_t words = 0;
  };

  [[nodiscard]] bool holds(const Place& place, std::uint64_t cut, std::string_view text) const;
  [[nodiscard]] std::size_t held_bytes() const;
  void forget();
  void keep(Place& place, std::uint64_t cut, std::string_view text);

  std::vector<Place> places_;
  std::string bytes_;
  std::vector<std::size_t> ends_;
  text::Tokens tokens_;
  std::uint64_t misses_ = 0;
};

// A tokenizer that remembers, in each thread, what it cut lately, as long as the library has
// another one that cuts alike. Safe to share between threads.
class SharedTokenizer {
 public:
  explicit SharedTokenizer(text::Tokenizer tokenizer);

  [[nodiscard]] const std::string& identity() const { return tokenizer_.identity(); }
  [[nodiscard]] bool ends_words_at_white_space() const {
    return tokenizer_.ends_words_at_white_space();
  }
  [[nodiscard]] bool is_shared() const { return cut_.use_count() > 1; }

  // Calls take(k, word) for each word of the text, in order. `tokens` is scratch, used where
  // nothing is remembered.
  template <class Take>
  void for_each_word(std::string_view text, text::Tokens& tokens, const Take& take) const {
    const auto each = [&take](const auto& words) {
      for (std::size_t k = 0; k < words.size(); ++k) take(k, words.word(k));
    };
    if (is_shared() && text.size() <= RecentWords::kLongest) {
      each(recent().split(*cut_, tokenizer_, text));
    } else {
      tokenizer_.split(text, tokens);
      each(tokens);
    }
  }

 private:
  [[nodiscard]] static RecentWords& recent();  // this thread's

  text::Tokenizer tokenizer_;
  // The same number in all that cut alike, and owned by all of them. None is given twice.
  std::shared_ptr<const std::uint64_t> cut_;
};

}  // namespace phsic::plugins
