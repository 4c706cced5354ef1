// How words follow each other on one side of a stream: counts of words and of pairs of neighbours,
// and what they say of a text.
//
// A text is fluent where a word follows the one before it more often than by chance. For a word w
// after a word v, c being counts and N the number of words,
//
//   r = log [ L c(v,w) N / (c(v) c(w)) + (1 - L) ],   L = .8
//
// which is 0 where both are independent. A text begins with a marker, which is the word before its
// first one. Where v or w has never come, or is too rare to say anything, r is 0.
//
// Memory is fixed: 2^16 counts of words and 2^19 of neighbours, by hash; those that share a place
// share its count. Counts fade by half in `half_life_pairs` texts, and are halved when one exceeds
// 2^23, beyond which a float would not count on. Everything is a function of the texts in their
// order. A value; const functions may be called from several threads at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/archive.h"

namespace phsic {

class Fluency {
 public:
  // Of a longer text only so many words are looked at.
  static constexpr std::size_t kMostWords = 4096;

  // What the words of one text say. All 0 if there are none.
  struct Reading {
    double mean = 0;          // of all r
    double lowest_third = 0;  // the mean of the lowest third, of at least one
    double minimum = 0;
    double last = 0;  // r of the last word
    bool operator==(const Reading&) const = default;
  };

  // Memory for a reading, reused from text to text.
  class Scratch {
    friend class Fluency;
    std::vector<std::uint32_t> words_;  // places of the text's words, in order
    std::vector<std::uint32_t> pairs_;  // places of neighbours, in order
    std::vector<std::uint32_t> sorted_words_;
    std::vector<std::uint32_t> sorted_pairs_;
    std::vector<double> values_;
  };

  // 0: nothing fades. Throws an Error unless the half-life is finite and not negative. One below
  // 1/20 of a text counts as that.
  explicit Fluency(double half_life_pairs = 0);

  // Adds one text: the hashes of its words, in order. Linear in the text, but for multiplying all
  // counts once in 40 half-lives. Allocates nothing.
  void learn(std::span<const std::uint64_t> words);

  // `own_times` is how often this very text was learned lately: so many of its own counts, at their
  // present weight, are left out, and no count goes below 0. Always finite.
  [[nodiscard]] Reading read(std::span<const std::uint64_t> words, Scratch& scratch,
                             double own_times = 0) const;

  // Adds what another has counted, at its present weight. Throws an Error unless the half-lives are
  // the same.
  void merge(const Fluency& other);

  // Words counted so far, at their present weight.
  [[nodiscard]] double words() const { return total_ / increment_; }
  [[nodiscard]] double half_life_pairs() const { return half_life_; }

  // Memory of the counts, always the same.
  [[nodiscard]] static constexpr std::size_t memory_bytes() {
    return (kWordPlaces + kPairPlaces) * sizeof(float);
  }

  static constexpr std::string_view kArchiveKind = "FLUE";
  // Only counts that are not 0: five bytes for most of them, and 40 for all else.
  void save(Writer& writer) const;
  // Throws an Error unless save() can have written it.
  [[nodiscard]] static Fluency load(Reader& reader);
  bool operator==(const Fluency&) const = default;

 private:
  static constexpr std::size_t kWordBits = 16;
  static constexpr std::size_t kPairBits = 19;
  static constexpr std::size_t kWordPlaces = std::size_t{1} << kWordBits;
  static constexpr std::size_t kPairPlaces = std::size_t{1} << kPairBits;

  [[nodiscard]] static std::uint32_t place_of(std::uint64_t word);
  [[nodiscard]] static std::uint32_t place_of(std::uint64_t previous, std::uint64_t word);
  static void find_places(std::span<const std::uint64_t> words, Scratch& scratch);
  void find_values(Scratch& scratch, double own) const;
  void multiply(double factor);
  void halve_if_large(float largest);

  double half_life_;
  double increment_ = 1;  // what a count of now adds; a count of 1 in the past added less
  double total_ = 0;      // counts of all words
  double texts_ = 0;      // counts of the marker: of texts that have words
  std::vector<float> words_;
  std::vector<float> pairs_;
};

}  // namespace phsic
