// What single words add to the score of a pair: its score, less that of the same pair without the
// word.
//
// Words are those of text/text_units.h: they stand in the text itself, so that one can be left out
// whatever the stream reads texts with, and they end at white space, where an encoder that is
// additive promises that rows add up. Leaving out takes the word and the white space on one side
// of it; all else stays. The rest of the pair is scored as any pair would be, by all views.
//
// Bounded: words are looked for at the beginning of each text, so many of them are examined, and
// fewer of long texts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "engine/damage.h"
#include "engine/model_stream.h"
#include "text/text_units.h"

namespace phsic {

inline constexpr std::size_t kMostExaminedWords = 64;  // of each text
// Of all texts together that are read to explain a pair.
inline constexpr std::size_t kMostExaminedBytes = 4U << 20U;
// Words are looked for, and counted, in so many bytes of each.
inline constexpr std::size_t kLongestCutUp = 65536;
inline constexpr std::size_t kLongestToldWord = 1000;  // bytes

// The text without unit i. REQUIRES: units of this text, or of its beginning.
[[nodiscard]] std::string without_word(std::string_view text, const text::TextUnits& units,
                                       std::size_t i);

// The words that raise and lower the score by this model. That of a pair that was learned, and of
// what is left of it, is without the pair's own share. All texts are encoded at once. Throws an
// Error when an encoder fails.
[[nodiscard]] PairWords explain_words(const ModelStream& stream,
                                      std::shared_ptr<const PublishedModel> published,
                                      const TextPairView& pair, const ExplainQuestion& question);

}  // namespace phsic
