// A stream that learns moments of feature vectors and scores with the estimators of the core.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "core/explain.h"
#include "core/learner.h"
#include "core/refresh.h"
#include "engine/encoder.h"
#include "engine/sampled_texts.h"
#include "engine/stream.h"

namespace phsic {

class KernelStream : public Stream {
 public:
  KernelStream(const StreamSpec& spec, const EncoderPath& path);

  [[nodiscard]] ItemShape shape_x() const override { return x_.shape(); }
  [[nodiscard]] ItemShape shape_y() const override { return y_.shape(); }
  [[nodiscard]] std::shared_ptr<const Release> release() const override;
  void encode(const TextPairs& pairs, Batch& batch) const override;
  void take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const override;
  void score(Batch& batch) const override;
  [[nodiscard]] bool learns_one_by_one() const override { return false; }
  void score_and_learn(Batch& batch, const double* times) override;
  void rank(std::string_view x, std::span<const std::string_view> candidates,
            Batch& batch) const override;
  void rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
            Batch& batch) const override;
  [[nodiscard]] std::optional<PairExplanation> explain(std::string_view x, std::string_view y,
                                                       std::size_t top) const override;

  std::size_t learn(const Lesson& lesson, std::size_t first, bool stops) override;
  [[nodiscard]] std::size_t room() const override;
  [[nodiscard]] std::unique_ptr<Refresh> freeze(Extent extent) override;
  void adopt(Refresh& refresh) override;
  void refresh_every(std::uint64_t pairs) override;
  void skip_refresh() override;
  [[nodiscard]] std::uint64_t pairs() const override { return learner_.accepted(); }

 private:
  class Frozen;
  // What a model is explained with: the sample that was there when it was built.
  struct Ground {
    std::shared_ptr<const Release> release;
    Reservoir<float>::Sample sample;
    SampledTexts texts;
    std::optional<Explainer<float>> explainer;  // made when it is first needed
  };

  [[nodiscard]] EstimatorSpec next_estimator(Extent extent);
  void rank_encoded(Batch& batch) const;
  void schedule();

  EstimatorSpec estimator_;
  Encoder x_;
  Encoder y_;
  bool learns_identical_;
  std::uint64_t refresh_pairs_;  // 0: by growth

  std::shared_ptr<const Release> release_;  // std::atomic_load and _store only

  // The learner's.
  Learner<float> learner_;
  SampledTexts texts_;
  std::vector<Fault> faults_;       // scratch
  std::uint64_t next_refresh_ = 0;  // when so many pairs are accepted
  std::uint64_t next_choice_ = 0;

  mutable std::mutex explaining_;  // guards ground_ and what it points to
  std::shared_ptr<Ground> ground_;
};

}  // namespace phsic
