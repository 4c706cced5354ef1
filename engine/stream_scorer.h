// A stream as its scorers see it: any number of threads at once, with the model in use.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "engine/batch.h"
#include "engine/pair_explanation.h"

namespace phsic {

class StreamScorer {
 public:
  StreamScorer() = default;
  virtual ~StreamScorer() = default;
  StreamScorer(const StreamScorer&) = delete;
  StreamScorer& operator=(const StreamScorer&) = delete;
  StreamScorer(StreamScorer&&) = delete;
  StreamScorer& operator=(StreamScorer&&) = delete;

  [[nodiscard]] virtual ItemShape shape_x() const = 0;
  [[nodiscard]] virtual ItemShape shape_y() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const PublishedModel> published() const = 0;

  // Texts to items, and which of them can be used. Throws an Error when an encoder fails.
  virtual void encode(const TextPairs& pairs, Batch& batch) const = 0;
  // The same for pairs that are vectors already. REQUIRES: dense shapes, rows of their dimensions.
  virtual void take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const = 0;
  // Scores what was encoded with the model in use. Before the first every score is 0. What
  // Batch::was_learned names is scored without its own share in the model (core/own_share.h), save
  // where the stream forgets, so that nobody knows the shares, or counts.
  virtual void score(Batch& batch) const = 0;

  // scores[j] of x with candidates[j]. A problem of x has the row PairProblem::kNoRow.
  virtual void rank(std::string_view x, std::span<const std::string_view> candidates,
                    Batch& batch) const = 0;
  virtual void rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
                    Batch& batch) const = 0;

  // What a score is made of. None when there is no model to explain with. Takes a while.
  [[nodiscard]] virtual std::optional<PairExplanation> explain(
      std::string_view x, std::string_view y, const ExplainQuestion& question) const = 0;
};

}  // namespace phsic
