// What the two texts of a pair show by themselves: lengths, ends, words that both have, fluency.
//
// These are components for a judge, which learns from the pairs of a stream what each is worth. The
// table kSurfaceTable names them. Every component is finite for any bytes, and all of them together
// cost the time of cutting both texts into words. Nothing is allocated for a pair once memory has
// grown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/fluency.h"
#include "text/tokenizer.h"

namespace phsic {

// What a text ends with, white space and closing quotes and brackets aside.
enum class TextEnd : std::uint8_t {
  kNothing,    // there is nothing but white space
  kSentence,   // a sign that ends sentences (Sentence_Terminal), or an ellipsis
  kOtherSign,  // any other sign; also a word in closing quotes or brackets
  kWord,       // a letter or a digit
};

// The words for sketches: of UAX #29 with dictionaries, folded, without signs.
[[nodiscard]] text::Tokenizer make_surface_tokenizer();

// What one text shows: found once, used by all components. Memory is kept from text to text.
class TextSketch {
 public:
  // Words are looked for in so many bytes of a longer text, and no more than so many are kept.
  static constexpr std::size_t kLongest = 65536;
  static constexpr std::size_t kMostWords = Fluency::kMostWords;

  // Any bytes: what is not UTF-8 reads as U+FFFD. The tokenizer is make_surface_tokenizer().
  void read(std::string_view text, const text::Tokenizer& tokenizer);

  // XXH3-64 of the words, in their order. Valid until the next read.
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }
  // The same ones, each once, ascending.
  [[nodiscard]] std::span<const std::uint64_t> distinct_words() const { return distinct_; }
  [[nodiscard]] std::size_t distinct() const { return distinct_.size(); }
  // Of the whole text, white space aside.
  [[nodiscard]] std::size_t characters() const { return characters_; }
  [[nodiscard]] TextEnd end() const { return end_; }

 private:
  text::Tokens tokens_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> distinct_;
  std::size_t characters_ = 0;
  TextEnd end_ = TextEnd::kNothing;
};

// All that is needed to read the surface of a pair; one for each thread.
struct SurfaceScratch {
  TextSketch x;
  TextSketch y;
  Fluency::Scratch fluency;
};

// How long the texts of a pair are, and what the pair weighs.
struct PairLengths {
  std::size_t x_characters = 0;
  std::size_t y_characters = 0;
  std::size_t x_words = 0;
  std::size_t y_words = 0;
  double weight = 1;
};

[[nodiscard]] PairLengths lengths_of(const TextSketch& x, const TextSketch& y, double weight = 1);

// What is usual for a stream. Lengths are log(1 + number), differences are y's minus x's.
struct SurfaceNorm {
  double mean_difference = 0;       // of lengths in characters
  double mean_word_difference = 0;  // of lengths in words

  // All 0 for no pairs. Pairs whose weight is not positive and finite are left out.
  [[nodiscard]] static SurfaceNorm of(std::span<const PairLengths> pairs);

  bool operator==(const SurfaceNorm&) const = default;
};

struct SurfaceComponent {
  std::string_view name;
  std::string_view about;
};

inline constexpr auto kSurfaceTable = std::to_array<SurfaceComponent>({
    {"x_characters", "how long x is, in characters"},
    {"y_characters", "how long y is, in characters"},
    {"x_words", "how long x is, in words"},
    {"y_words", "how long y is, in words"},
    {"length_difference", "how much longer y is than is usual for x"},
    {"length_distance", "how far y is from its usual length for x"},
    {"length_distance_squared", "how far y is from its usual length for x, squared"},
    {"word_difference", "how many more words y has than is usual for x"},
    {"word_distance", "how far y is from its usual number of words for x"},
    {"ends_alike", "whether both end with the same kind of sign, or both with a word"},
    {"sentence_end_difference", "whether x ends a sentence and y does not, or the reverse"},
    {"shared_words", "the share of words that both have"},
    {"shared_late_words", "the share of words in y's second half that x has, too"},
    {"x_variety", "how seldom x repeats its words"},
    {"y_variety", "how seldom y repeats its words"},
    {"x_fluency", "how well the words of x follow each other"},
    {"x_fluency_lowest_third", "how well they do in the worst third of x"},
    {"x_fluency_minimum", "how well they do in the worst place of x"},
    {"x_fluency_last", "how well the last word of x follows the one before it"},
    {"y_fluency", "how well the words of y follow each other"},
    {"y_fluency_lowest_third", "how well they do in the worst third of y"},
    {"y_fluency_minimum", "how well they do in the worst place of y"},
    {"y_fluency_last", "how well the last word of y follows the one before it"},
});
inline constexpr std::size_t kSurfaceComponents = kSurfaceTable.size();

// Writes kSurfaceComponents numbers to `out`, in the order of the table. Differences of lengths are
// cut to [-4, 4]. A text without words shares none and has a variety of 1.
void surface_components(const TextSketch& x, const TextSketch& y, const Fluency::Reading& fx,
                        const Fluency::Reading& fy, const SurfaceNorm& norm, double* out);

}  // namespace phsic
