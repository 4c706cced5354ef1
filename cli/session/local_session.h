// A session with a stream in this process: learns and refreshes while the caller waits.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cli/session/session.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"

namespace phsic {

class LocalSession : public Session {
 public:
  LocalSession(std::unique_ptr<Stream> stream, std::size_t threads);

  void score(const TextPairs& pairs, double* scores, std::vector<PairProblem>& problems) override;
  void learn(const TextPairs& pairs, std::vector<PairProblem>& problems) override;
  void score_then_learn(const TextPairs& pairs, double* scores,
                        std::vector<PairProblem>& problems) override;
  void learn_and_refresh(const TextPairs& pairs, std::vector<PairProblem>& problems) override;
  [[nodiscard]] std::size_t until_refresh() const override { return stream_->until_refresh(); }
  void finish() override { cycle_.refresh(PairExtent::kAll); }
  void rank(std::string_view x, std::span<const std::string_view> candidates, double* scores,
            std::vector<PairProblem>& problems) const override;
  [[nodiscard]] StreamFacts facts() const override;
  [[nodiscard]] const Calibration& calibration() const override {
    return stream_->published()->calibration();
  }

 private:
  // Does `work` with each chunk of the pairs, encoded, in parallel.
  template <class Work>
  void for_each_chunk(const TextPairs& pairs, const Work& work);
  // Learns the encoded pairs, in order.
  void learn_encoded(const TextPairs& pairs);
  void report(std::vector<PairProblem>& problems) const;

  std::unique_ptr<Stream> stream_;
  ModelCycle cycle_;
  std::size_t threads_;
  std::vector<Batch> chunks_;
  std::size_t chunks_used_ = 0;
};

}  // namespace phsic
