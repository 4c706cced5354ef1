// A stream that learns moments of feature vectors and scores with the estimators of the core.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/learner.h"
#include "core/model.h"
#include "core/refresh.h"
#include "engine/encoder.h"
#include "engine/session.h"

namespace phsic {

class KernelStream : public Session {
 public:
  KernelStream(const StreamSpec& spec, const EncoderPath& path, std::size_t threads);

  void score(const TextPairs& pairs, double* scores, std::vector<PairProblem>& problems) override;
  void learn(const TextPairs& pairs, std::vector<PairProblem>& problems) override;
  void score_then_learn(const TextPairs& pairs, double* scores,
                        std::vector<PairProblem>& problems) override;
  void learn_and_refresh(const TextPairs& pairs, std::vector<PairProblem>& problems) override {
    score_then_learn(pairs, nullptr, problems);
  }
  [[nodiscard]] std::size_t room() const override;
  void finish() override;
  void rank(std::string_view x, std::span<const std::string_view> candidates, double* scores,
            std::vector<PairProblem>& problems) const override;
  [[nodiscard]] StreamFacts facts() const override;
  [[nodiscard]] const Calibration& calibration() const override { return model_->calibration(); }

 private:
  // What one thread works on: up to kBlockPairs pairs, encoded, and the memory to score them in.
  struct Chunk {
    Encoded x;
    Encoded y;
    std::vector<Fault> faults;  // of each pair
    ScoreScratch<float> scratch;
    std::vector<PairProblem> problems;  // rows within the chunk, ascending, one for a row
    std::vector<bool> usable;           // to learn from
  };

  // Encodes all pairs, kChunkPairs to a chunk, and scores them unless `scores` is null.
  void prepare(const TextPairs& pairs, double* scores);
  void prepare_chunk(const TextPairs& pairs, std::size_t first, double* scores, Chunk& chunk) const;
  void learn_prepared(const TextPairs& pairs);
  void report(std::vector<PairProblem>& problems) const;
  void refresh_model(Learner<float>::Extent extent);
  [[nodiscard]] std::uint64_t effective_pairs() const;
  void schedule();

  EstimatorSpec estimator_;
  Encoder x_;
  Encoder y_;
  std::size_t threads_;
  bool learns_identical_;
  Learner<float> learner_;
  std::shared_ptr<const Model<float>> model_;
  std::uint64_t next_refresh_ = 0;  // when so many pairs are accepted
  std::uint64_t next_choice_ = 0;
  std::vector<Chunk> chunks_;
  std::size_t chunks_used_ = 0;
};

}  // namespace phsic
