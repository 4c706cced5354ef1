// hashing: the default encoder, which needs no model and knows no language.
//
// A text becomes a sparse vector of signed counts: each word, and each run of 3 to 5 characters of
// a word with its ends marked, adds +1 or -1 to one of `dim` places, both told by a hash
// (Weinberger et al., 2009). Shared stems, cognates, names and numbers thus share places.
#include <fmt/format.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/plugin.h"
#include "plugins/recent_words.h"
#include "plugins/scratch_pool.h"
#include "text/tokenizer.h"

namespace phsic::plugins {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;

// Adds one symbol to a running hash.
constexpr std::uint64_t extend(std::uint64_t hash, std::uint64_t symbol) {
  return std::rotl((hash ^ symbol) * kMultiplier, 29);
}

// Spreads a running hash over all 64 bits (the finaliser of MurmurHash3).
constexpr std::uint64_t finish(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33U)) * 0xFF51AFD7ED558CCD;
  hash = (hash ^ (hash >> 33U)) * 0xC4CEB9FE1A85EC53;
  return hash ^ (hash >> 33U);
}

// Starting points that keep the kinds of features apart.
constexpr std::uint64_t kWord = 1;
constexpr std::uint64_t kRun = 2;
constexpr std::uint64_t kBigram = 3;

// What one text has collected: a sum for each place, and which places were touched.
class Places {
 public:
  void resize(std::size_t dim) {
    sums_.resize(dim);
    touched_.resize((dim + 63) / 64);
  }

  void add(std::uint64_t hash) {
    const auto index = static_cast<std::uint32_t>(((hash >> 32U) * sums_.size()) >> 32U);
    sums_[index] += (hash & 1U) != 0 ? 1.F : -1.F;
    touched_[index / 64] |= std::uint64_t{1} << (index % 64);
  }

  // Writes the places whose sum is not 0, in order, and forgets them all.
  void move_to(RowWriter& rows) {
    for (std::size_t word = 0; word < touched_.size(); ++word) {
      for (auto left = touched_[word]; left != 0; left &= left - 1) {
        const auto index = static_cast<std::uint32_t>(word * 64 + std::countr_zero(left));
        if (sums_[index] != 0) rows.add(index, sums_[index]);
        sums_[index] = 0;
      }
      touched_[word] = 0;
    }
    rows.finish_row();
  }

 private:
  std::vector<float> sums_;
  std::vector<std::uint64_t> touched_;
};

class Hashing {
 public:
  static constexpr Nameplate kNameplate = {
      "hashing", "1", "words and character n-grams hashed; any language, no model"};

  static const OptionTable& options() {
    static const OptionTable kTable = {
        {"dim", "1024", "places to hash into, 16 to 32768"},
        {"words", "true", "hash whole words"},
        {"shortest", "3", "shortest run of characters, 1 to 16"},
        {"longest", "5", "longest run of characters, 0 for none, to 16"},
        {"bigrams", "false", "hash pairs of neighbouring words too"},
        {"tokens", "\"icu\"", "icu, whitespace, or the path of a SentencePiece model"},
        {"fold", "true", "treat upper and lower case and compatible characters alike"},
        {"seed", "0", "another number gives another, equally good hash"},
    };
    return kTable;
  }

  explicit Hashing(const Options& options)
      : dim_(static_cast<std::uint32_t>(options.integer("dim", 16, PHSIC_MAX_DIMENSION))),
        words_(options.flag("words")),
        shortest_(static_cast<std::size_t>(options.integer("shortest", 1, 16))),
        longest_(static_cast<std::size_t>(options.integer("longest", 0, 16))),
        bigrams_(options.flag("bigrams")),
        seed_(finish(static_cast<std::uint64_t>(options.integer("seed", 0, INT64_MAX)))),
        tokenizer_(text::Tokenizer(
            options.text("tokens"),
            options.flag("fold") ? text::Normalization::kNfkcCasefold : text::Normalization::kNfc,
            text::Signs::kDropped)) {
    if (!words_ && !bigrams_ && longest_ < shortest_) {
      throw std::invalid_argument(
          "words, bigrams and runs of characters are all off, expected at least one of them");
    }
    identity_ = fmt::format("{} {} dim={} words={} runs={}-{} bigrams={} seed={} tokens=[{}]",
                            kNameplate.name, kNameplate.version, dim_, words_, shortest_, longest_,
                            bigrams_, options.integer("seed", 0, INT64_MAX), tokenizer_.identity());
  }

  [[nodiscard]] Facts facts() const {
    const bool is_additive = !bigrams_ && tokenizer_.ends_words_at_white_space();
    return {dim_, PHSIC_SPARSE, true, identity_,
            is_additive ? static_cast<std::uint32_t>(PHSIC_ADDITIVE) : 0};
  }

  void encode(const phsic_text* texts, std::size_t n, RowWriter& rows) {
    typename ScratchPool<Scratch>::Loan loan(scratch_);
    Scratch& scratch = *loan;
    scratch.places.resize(dim_);
    for (std::size_t i = 0; i < n && !rows.is_full(dim_); ++i) {
      tokenizer_.for_each_word(
          {texts[i].bytes, texts[i].size}, scratch.tokens,
          [&](std::size_t k, std::string_view word) { add_word(word, k == 0, scratch); });
      scratch.places.move_to(rows);
    }
  }

 private:
  struct Scratch {
    text::Tokens tokens;
    Places places;
    std::vector<std::uint32_t> points;  // of one word, with its ends marked
    std::uint64_t last_word = 0;

    // The places are few.
    [[nodiscard]] std::size_t held_bytes() const {
      return tokens.held_bytes() + points.capacity() * sizeof(std::uint32_t);
    }
  };

  void add_word(std::string_view word, bool is_first, Scratch& scratch) const {
    auto& points = scratch.points;
    points.clear();
    points.push_back(kBegin);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(word.data());
    std::uint64_t hash = seed_ + kWord;
    for (std::size_t at = 0; at < word.size();) {
      UChar32 point = 0;
      U8_NEXT_OR_FFFD(bytes, at, word.size(), point);
      points.push_back(static_cast<std::uint32_t>(point));
      hash = extend(hash, points.back());
    }
    points.push_back(kEnd);
    if (words_) scratch.places.add(finish(hash));
    if (bigrams_ && !is_first) {
      scratch.places.add(finish(extend(extend(seed_ + kBigram, scratch.last_word), hash)));
    }
    scratch.last_word = hash;
    add_runs(scratch);
  }

  void add_runs(Scratch& scratch) const {
    const auto& points = scratch.points;
    for (std::size_t first = 0; first + shortest_ <= points.size(); ++first) {
      const auto last = std::min(first + longest_, points.size());
      std::uint64_t hash = seed_ + kRun;
      for (auto at = first; at < last; ++at) {
        hash = extend(hash, points[at]);
        if (at - first + 1 >= shortest_) scratch.places.add(finish(hash));
      }
    }
  }

  // Beyond Unicode, so that they are no character's.
  static constexpr std::uint32_t kBegin = 0x110000;
  static constexpr std::uint32_t kEnd = 0x110001;

  std::uint32_t dim_;
  bool words_;
  std::size_t shortest_;
  std::size_t longest_;
  bool bigrams_;
  std::uint64_t seed_;
  SharedTokenizer tokenizer_;
  std::string identity_;
  ScratchPool<Scratch> scratch_;
};

}  // namespace
}  // namespace phsic::plugins

PHSIC_ENCODER(phsic::plugins::Hashing);
