// wordvec: the sum or mean of the vectors of a text's words, from a file of word vectors.
//
// Words that the file does not have are skipped. `sif` weighs each word by a / (a + p(word))
// (Arora, Liang and Ma, 2017), so that frequent words count less. The files do not give counts, but
// they list frequent words first. So Zipf's law gives the probabilities: p = 1 / (rank · H), where
// H makes their sum 1.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/case_rule.h"
#include "plugins/plugin.h"
#include "plugins/recent_words.h"
#include "plugins/scratch_pool.h"
#include "plugins/word_cache.h"
#include "text/tokenizer.h"

namespace phsic::plugins {
namespace {

// The a of SIF, as its authors set it.
constexpr double kSifScale = 1e-3;

// H of Zipf's law for `count` words.
double harmonic_number(std::uint32_t count) {
  double sum = 0;
  for (auto rank = count; rank > 0; --rank) sum += 1.0 / rank;
  return sum;
}

std::string cache_option(const Options& options) {
  auto cache = options.text("cache");
  if (cache.empty()) {
    throw std::invalid_argument("option cache is \"\", expected auto, off or a folder");
  }
  return cache;
}

// Calls take(part) for each sign and for what lies between signs of a word that is not known as a
// whole: it's, U.S.A, and/or. A word without signs has no parts.
template <class Take>
void for_each_part(std::string_view word, const Take& take) {
  const auto is_sign = [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && std::isalnum(static_cast<unsigned char>(c)) == 0;
  };
  if (std::none_of(word.begin(), word.end(), is_sign)) return;
  for (auto begin = word.begin(); begin != word.end();) {
    const auto end = is_sign(*begin) ? begin + 1 : std::find_if(begin, word.end(), is_sign);
    take(std::string_view(begin, end));
    begin = end;
  }
}

class Wordvec {
 public:
  static constexpr Nameplate kNameplate = {
      "wordvec", "1", "vectors of words summed up, from a word2vec, fastText or GloVe file"};

  static const OptionTable& options() {
    static const OptionTable kTable = {
        {"file", "null", "word vectors: text or word2vec binary, plain or gzip; required"},
        {"weight", "\"sif\"", "sum, mean, or sif (frequent words count less)"},
        {"limit", "0", "take only the first so many words of the file, 0 for all"},
        {"tokens", "\"icu\"", "icu, whitespace, or the path of a SentencePiece model"},
        {"case", "\"fallback\"", "keep, fold, or fallback (as it is, else in other cases)"},
        {"cache", "\"auto\"", "where to keep the words for a fast start: auto, off, or a folder"},
    };
    return kTable;
  }

  explicit Wordvec(const Options& options)
      : weight_(options.choice("weight", {"sum", "mean", "sif"})),
        case_(options),
        tokenizer_(
            text::Tokenizer(options.text("tokens"), case_.normalization(), text::Signs::kKept)),
        limit_(static_cast<std::uint64_t>(options.integer("limit", 0, INT64_MAX))),
        table_(load_word_table(options.text("file"), limit_, cache_option(options))),
        zipf_(harmonic_number(table_.size())) {}

  [[nodiscard]] Facts facts() const {
    return {table_.dimension(), PHSIC_DENSE, true,
            fmt::format("{} {} {} weight={} limit={} case={} tokens=[{}]", kNameplate.name,
                        kNameplate.version, table_.model().hash.data(), weight_, limit_,
                        case_.name(), tokenizer_.identity())};
  }

  void encode(const phsic_text* texts, std::size_t n, RowWriter& rows) {
    typename ScratchPool<Scratch>::Loan loan(scratch_);
    for (std::size_t i = 0; i < n; ++i) {
      add_words({texts[i].bytes, texts[i].size}, *loan, rows.dense_row());
      rows.finish_row();
    }
  }

 private:
  struct Scratch {
    text::Tokens tokens;
    std::string form;  // of a word in another case

    [[nodiscard]] std::size_t held_bytes() const { return tokens.held_bytes() + form.capacity(); }
  };

  void add_words(std::string_view text, Scratch& scratch, float* row) const {
    const std::size_t dimension = table_.dimension();
    std::fill_n(row, dimension, 0.F);
    std::size_t known = 0;
    tokenizer_.for_each_word(text, scratch.tokens, [&](std::size_t, std::string_view word) {
      if (add_word(word, scratch, row)) {
        ++known;
      } else {
        for_each_part(word, [&](std::string_view part) { known += add_word(part, scratch, row); });
      }
    });
    if (known < 2 || weight_ == "sum") return;
    const float share = 1.F / static_cast<float>(known);
    for (std::size_t d = 0; d < dimension; ++d) row[d] *= share;
  }

  // Was it known?
  bool add_word(std::string_view word, Scratch& scratch, float* row) const {
    const auto index =
        case_.find(word, scratch.form, [&](std::string_view form) { return table_.find(form); });
    if (!index) return false;
    const float weight = weight_ == "sif" ? sif_weight(*index) : 1.F;
    const float* vector = table_.vector(*index);
    for (std::size_t d = 0; d < table_.dimension(); ++d) row[d] += weight * vector[d];
    return true;
  }

  [[nodiscard]] float sif_weight(std::uint32_t index) const {
    const double probability = 1 / ((index + 1.0) * zipf_);
    return static_cast<float>(kSifScale / (kSifScale + probability));
  }

  std::string weight_;
  CaseRule case_;
  SharedTokenizer tokenizer_;
  std::uint64_t limit_;
  WordTable table_;
  double zipf_;
  ScratchPool<Scratch> scratch_;
};

}  // namespace
}  // namespace phsic::plugins

PHSIC_ENCODER(phsic::plugins::Wordvec);
