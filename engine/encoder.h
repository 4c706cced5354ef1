// Encoding: from texts to items that a stream can learn and score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/items.h"
#include "engine/encoder_library.h"
#include "engine/encoder_spec.h"

namespace phsic {

// The items of one batch of texts. Reused from batch to batch; one thread at a time.
class Encoded {
 public:
  [[nodiscard]] std::size_t size() const { return rows_; }
  // Valid until the next encoding into it.
  [[nodiscard]] Items<float> view() const;

  // Vectors that are encoded already are copied in. REQUIRES: rows of a dimension below 2^32.
  void take(const DenseRows<float>& rows);

  struct Problem {
    std::size_t row = 0;
    std::string message;
  };
  // The texts that could not be encoded, in order; their items are zero.
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  friend class Encoder;
  void restart(ItemShape shape, std::size_t rows);

  ItemShape shape_;
  std::size_t rows_ = 0;
  std::vector<float> values_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::size_t> start_;
  std::string bytes_;
  std::vector<Problem> problems_;
  std::vector<phsic_text> texts_;
};

// An open encoder. Safe to share between threads: if the plugin is not concurrent, they take turns.
class Encoder {
 public:
  // Texts as they are, but no more than `longest` bytes of each: for kernels on texts.
  explicit Encoder(std::size_t longest);
  // For texts that are not cut.
  static constexpr std::size_t kWhole = SIZE_MAX;
  // Throws an Error when there is no such encoder, when it does not open, and when a trial shows
  // that its rows are not what it says they are.
  Encoder(const EncoderSpec& spec, const EncoderPath& path);

  [[nodiscard]] ItemShape shape() const { return shape_; }
  // Everything that the items depend on.
  [[nodiscard]] const std::string& identity() const { return identity_; }
  // Where a text is cut at white space, is its item the sum of its parts' items? False: unknown.
  [[nodiscard]] bool is_additive() const { return is_additive_; }

  // Encodes texts[i] as row i. Throws an Error when the encoder fails as a whole or breaks the
  // rules of its interface.
  void encode(std::span<const std::string_view> texts, Encoded& out) const;

 private:
  struct Instance;

  void require_honest() const;
  void require_repeatable() const;
  void require_additive() const;

  // What the next call of the plugin achieved.
  struct Step {
    std::size_t done = 0;
    bool is_bad = false;  // the text after them
    std::string message;
  };
  [[nodiscard]] Step encode_some(const phsic_text* texts, std::size_t n, phsic_rows& rows) const;
  void encode_dense(Encoded& out) const;
  void encode_sparse(Encoded& out) const;

  ItemShape shape_;
  std::string identity_;
  bool is_additive_ = false;
  std::size_t longest_ = kWhole;
  std::shared_ptr<Instance> instance_;  // null: texts as they are
};

}  // namespace phsic
