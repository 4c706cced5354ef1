// fasttext: vectors of words from a fastText model, with vectors for words it has never seen, made
// of their character n-grams.
//
// `unit`, the default, is the mean of the words' vectors, each scaled to length 1 first: what
// fastText itself calls a sentence's vector. Words without any vector are skipped.
#include <fasttext/fasttext.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <istream>
#include <limits>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/case_rule.h"
#include "plugins/fasttext_check.h"
#include "plugins/mapped_file.h"
#include "plugins/plugin.h"
#include "plugins/recent_words.h"
#include "plugins/scratch_pool.h"
#include "text/file_hash.h"
#include "text/tokenizer.h"

namespace phsic::plugins {
namespace {

class MemoryBuffer : public std::streambuf {
 public:
  explicit MemoryBuffer(MappedFile& file) {
    setg(file.data(), file.data(), file.data() + file.bytes().size());
  }
};

// libfasttext's model, loaded from the very bytes that were checked. Nothing changes it afterwards,
// so that many threads may read it.
class Model : public fasttext::FastText {
 public:
  explicit Model(const std::string& path) {
    MappedFile file(path);
    dimension_ = check_fasttext(file.bytes(), path);
    hash_ = text::content_hash(file.bytes());
    MemoryBuffer buffer(file);
    std::istream stream(&buffer);
    if (!checkModel(stream)) {
      throw std::invalid_argument(fmt::format("{}: libfasttext does not know its version", path));
    }
    loadModel(stream);
  }

  [[nodiscard]] std::uint32_t dimension() const { return dimension_; }
  [[nodiscard]] const std::string& hash() const { return hash_; }

  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& word) const {
    const auto id = dict_->getId(word);
    // Labels are entries too.
    if (id < 0 || id >= dict_->nwords()) return std::nullopt;
    return static_cast<std::uint32_t>(id);
  }

  // The rows whose mean is a known word's vector.
  [[nodiscard]] const std::vector<std::int32_t>& rows_of(std::uint32_t id) const {
    return dict_->getSubwords(static_cast<std::int32_t>(id));
  }
  // The same for any other word.
  void find_rows(const std::string& word, std::vector<std::int32_t>& rows) const {
    rows.clear();
    if (word != fasttext::Dictionary::EOS) {
      dict_->computeSubwords(fasttext::Dictionary::BOW + word + fasttext::Dictionary::EOW, rows);
    }
  }

  void add_row(std::int32_t row, fasttext::Vector& sum) const { input_->addRowToVector(sum, row); }

 private:
  std::uint32_t dimension_ = 0;
  std::string hash_;
};

class FastText {
 public:
  static constexpr Nameplate kNameplate = {
      "fasttext", "1", "vectors of words, seen or not, from a fastText .bin or .ftz model"};

  static const OptionTable& options() {
    static const OptionTable kTable = {
        {"file", "null", "a fastText model, .bin or .ftz; required"},
        {"weight", "\"unit\"", "unit (mean of vectors scaled to length 1), mean or sum"},
        {"tokens", "\"icu\"", "icu, whitespace, or the path of a SentencePiece model"},
        {"case", "\"fallback\"", "keep, fold, or fallback (as it is, else in other cases)"},
    };
    return kTable;
  }

  explicit FastText(const Options& options)
      : weight_(options.choice("weight", {"unit", "mean", "sum"})),
        case_(options),
        tokenizer_(
            text::Tokenizer(options.text("tokens"), case_.normalization(), text::Signs::kKept)),
        model_(options.text("file")) {}

  [[nodiscard]] Facts facts() const {
    return {
        model_.dimension(), PHSIC_DENSE, true,
        fmt::format("{} {} {} weight={} case={} tokens=[{}]", kNameplate.name, kNameplate.version,
                    model_.hash(), weight_, case_.name(), tokenizer_.identity())};
  }

  void encode(const phsic_text* texts, std::size_t n, RowWriter& rows) {
    typename ScratchPool<Scratch>::Loan loan(scratch_);
    Scratch& scratch = *loan;
    if (scratch.vector.size() == 0) scratch.vector = fasttext::Vector(model_.dimension());
    for (std::size_t i = 0; i < n; ++i) {
      add_words({texts[i].bytes, texts[i].size}, scratch, rows.dense_row());
      rows.finish_row();
    }
  }

 private:
  struct Scratch {
    text::Tokens tokens;
    std::string word;
    std::string form;  // of the word in another case
    std::vector<std::int32_t> rows;
    fasttext::Vector vector{0};

    // Rows are those of a word of kLongestUnseen bytes at most.
    [[nodiscard]] std::size_t held_bytes() const {
      return tokens.held_bytes() + word.capacity() + form.capacity();
    }
  };

  void add_words(std::string_view text, Scratch& scratch, float* row) const {
    std::fill_n(row, model_.dimension(), 0.F);
    std::size_t known = 0;
    tokenizer_.for_each_word(text, scratch.tokens, [&](std::size_t, std::string_view word) {
      if (make_vector(word, scratch) && add_vector(scratch.vector.data(), row)) ++known;
    });
    if (known < 2 || weight_ == "sum") return;
    const float share = 1.F / static_cast<float>(known);
    for (std::size_t d = 0; d < model_.dimension(); ++d) row[d] *= share;
  }

  // Makes the word's vector in scratch.vector; false when the model has nothing for the word.
  [[nodiscard]] bool make_vector(std::string_view word, Scratch& scratch) const {
    // An unseen word has n-grams at each of its letters. Anything longer than this is not a word.
    constexpr std::size_t kLongestUnseen = 1024;
    const auto id = case_.find(word, scratch.form, [&](std::string_view form) {
      scratch.word = form;
      return model_.find(scratch.word);
    });
    if (!id) {
      if (word.size() > kLongestUnseen) return false;
      scratch.word = word;
      model_.find_rows(scratch.word, scratch.rows);
    }
    const auto& rows = id ? model_.rows_of(*id) : scratch.rows;
    if (rows.empty()) return false;
    scratch.vector.zero();
    for (const auto row : rows) model_.add_row(row, scratch.vector);
    scratch.vector.mul(1.F / static_cast<float>(rows.size()));
    return true;
  }

  // False if the vector is to be scaled to length 1 and has no direction.
  [[nodiscard]] bool add_vector(const float* vector, float* row) const {
    float scale = 1;
    if (weight_ == "unit") {
      double squares = 0;
      for (std::size_t d = 0; d < model_.dimension(); ++d) {
        squares += static_cast<double>(vector[d]) * vector[d];
      }
      const auto length = static_cast<float>(std::sqrt(squares));
      if (length < std::numeric_limits<float>::min()) return false;
      scale = 1 / length;
    }
    for (std::size_t d = 0; d < model_.dimension(); ++d) row[d] += scale * vector[d];
    return true;
  }

  std::string weight_;
  CaseRule case_;
  SharedTokenizer tokenizer_;
  Model model_;
  ScratchPool<Scratch> scratch_;
};

}  // namespace
}  // namespace phsic::plugins

PHSIC_ENCODER(phsic::plugins::FastText);
