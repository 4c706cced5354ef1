#include "engine/surface.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "text/cut_text.h"

namespace phsic {
namespace {

// Differences of log lengths beyond this say no more than this.
constexpr double kMostDifference = 4;

std::size_t count_characters(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    UChar32 point = 0;
    U8_NEXT_OR_FFFD(bytes, at, text.size(), point);
    const bool is_space = point < 0x80 ? point == ' ' || (point >= '\t' && point <= '\r')
                                       : u_isUWhiteSpace(point) != 0;
    count += is_space ? 0 : 1;
  }
  return count;
}

// The character that ends before `end`, which moves to its beginning.
UChar32 previous_character(std::string_view text, std::size_t& end) {
  // Looks at one character alone, so that a text may be of any length.
  constexpr std::size_t kLongestCharacter = 4;
  const auto size = std::min(end, kLongestCharacter);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data() + (end - size));
  auto at = static_cast<int32_t>(size);
  UChar32 point = 0;
  U8_PREV_OR_FFFD(bytes, 0, at, point);
  end -= size - static_cast<std::size_t>(at);
  return point;
}

bool is_gap(UChar32 point) {
  return u_isUWhiteSpace(point) != 0 || (U_GET_GC_MASK(point) & (U_GC_CF_MASK | U_GC_CC_MASK)) != 0;
}

bool is_closing(UChar32 point) {
  return (U_GET_GC_MASK(point) & (U_GC_PE_MASK | U_GC_PF_MASK)) != 0 ||
         u_hasBinaryProperty(point, UCHAR_QUOTATION_MARK) != 0;
}

bool ends_sentences(UChar32 point) {
  // "…" stands for "...", which ends with a full stop.
  constexpr UChar32 kEllipsis = 0x2026;
  return point == kEllipsis || u_hasBinaryProperty(point, UCHAR_S_TERM) != 0;
}

TextEnd end_of(std::string_view text) {
  bool is_closed = false;
  for (auto end = text.size(); end > 0;) {
    const auto point = previous_character(text, end);
    if (is_gap(point)) continue;
    if (is_closing(point)) {
      is_closed = true;
      continue;
    }
    if (ends_sentences(point)) return TextEnd::kSentence;
    const bool is_word = (U_GET_GC_MASK(point) & (U_GC_L_MASK | U_GC_N_MASK | U_GC_M_MASK)) != 0;
    return is_word && !is_closed ? TextEnd::kWord : TextEnd::kOtherSign;
  }
  return is_closed ? TextEnd::kOtherSign : TextEnd::kNothing;
}

double log_length(std::size_t count) { return std::log1p(static_cast<double>(count)); }

double difference(std::size_t x, std::size_t y) { return log_length(y) - log_length(x); }

double clipped(double value) { return std::clamp(value, -kMostDifference, kMostDifference); }

double share(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::size_t count_shared(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::size_t count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] < b[j]) {
      ++i;
    } else if (b[j] < a[i]) {
      ++j;
    } else {
      ++count;
      ++i;
      ++j;
    }
  }
  return count;
}

double shared_late_words(const TextSketch& x, const TextSketch& y) {
  const auto late = y.words().subspan(y.words().size() / 2);
  const auto known = x.distinct_words();
  const auto found = std::count_if(late.begin(), late.end(), [&](std::uint64_t word) {
    return std::binary_search(known.begin(), known.end(), word);
  });
  return share(static_cast<std::size_t>(found), late.size());
}

double variety_of(const TextSketch& sketch) {
  return sketch.words().empty() ? 1 : share(sketch.distinct(), sketch.words().size());
}

double ends_sentence(const TextSketch& sketch) {
  return sketch.end() == TextEnd::kSentence ? 1 : 0;
}

}  // namespace

text::Tokenizer make_surface_tokenizer() {
  return {"icu", text::Normalization::kNfkcCasefold, text::Signs::kDropped};
}

void TextSketch::read(std::string_view text, const text::Tokenizer& tokenizer) {
  characters_ = count_characters(text);
  end_ = end_of(text);
  tokenizer.split(text::cut_text(text, kLongest), tokens_);
  words_.clear();
  const auto count = std::min(tokens_.size(), kMostWords);
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = tokens_.word(i);
    words_.push_back(XXH3_64bits(word.data(), word.size()));
  }
  distinct_.assign(words_.begin(), words_.end());
  std::sort(distinct_.begin(), distinct_.end());
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
}

PairLengths lengths_of(const TextSketch& x, const TextSketch& y, double weight) {
  return {x.characters(), y.characters(), x.words().size(), y.words().size(), weight};
}

SurfaceNorm SurfaceNorm::of(std::span<const PairLengths> pairs) {
  double weight = 0;
  double characters = 0;
  double words = 0;
  for (const auto& pair : pairs) {
    if (!(pair.weight > 0 && std::isfinite(pair.weight))) continue;
    // Means that move with each pair stay finite whatever the weights add up to.
    weight += pair.weight;
    const double step = pair.weight / weight;
    characters += step * (difference(pair.x_characters, pair.y_characters) - characters);
    words += step * (difference(pair.x_words, pair.y_words) - words);
  }
  return {characters, words};
}

void surface_components(const TextSketch& x, const TextSketch& y, const Fluency::Reading& fx,
                        const Fluency::Reading& fy, const SurfaceNorm& norm, double* out) {
  const double characters =
      clipped(difference(x.characters(), y.characters()) - norm.mean_difference);
  const double words =
      clipped(difference(x.words().size(), y.words().size()) - norm.mean_word_difference);
  const std::array<double, kSurfaceComponents> values = {
      log_length(x.characters()),
      log_length(y.characters()),
      log_length(x.words().size()),
      log_length(y.words().size()),
      characters,
      std::abs(characters),
      characters * characters,
      words,
      std::abs(words),
      x.end() == y.end() ? 1.0 : 0.0,
      ends_sentence(x) - ends_sentence(y),
      share(count_shared(x.distinct_words(), y.distinct_words()),
            std::min(x.distinct(), y.distinct())),
      shared_late_words(x, y),
      variety_of(x),
      variety_of(y),
      fx.mean,
      fx.lowest_third,
      fx.minimum,
      fx.last,
      fy.mean,
      fy.lowest_third,
      fy.minimum,
      fy.last,
  };
  std::copy(values.begin(), values.end(), out);
}

}  // namespace phsic
