// A stream as its scorers see it: any number of threads at once, with the model in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/batch.h"

namespace phsic {

// Why a pair scores as it does.
struct PairExplanation {
  struct Part {
    double contribution = 0;
    std::uint64_t number = 0;  // of the learned pair, from 0
    std::string x;
    std::string y;
    std::string view;  // which has seen it so, where there are several
  };
  // What one of several views says.
  struct View {
    std::string name;
    double weight = 0;
    double score = 0;         // by itself
    double standardised = 0;  // in deviations from random pairings
    std::string problem;      // why it cannot say anything, if so
  };
  double score = 0;
  double rest = 0;  // what no learned pair has a share in
  std::vector<Part> raise;
  std::vector<Part> lower;
  std::vector<View> views;             // empty where there is one
  std::optional<Judgement> judgement;  // of the model's judge, if it has one
  std::shared_ptr<const PublishedModel> published;
  std::string problem;  // why the pair cannot be scored, if so
};

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

  // The learned pairs that raise and lower a score most, `top` of each. None when there is no model
  // to explain with. Takes a while.
  [[nodiscard]] virtual std::optional<PairExplanation> explain(std::string_view x,
                                                               std::string_view y,
                                                               std::size_t top) const = 0;
};

}  // namespace phsic
