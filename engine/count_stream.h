// A stream that counts: pointwise mutual information of texts that recur exactly (core/pmi.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/pmi.h"
#include "engine/session.h"

namespace phsic {

class CountStream : public Session {
 public:
  // Throws when the stream is to forget in a way that counts cannot.
  explicit CountStream(const StreamSpec& spec);

  void score(const TextPairs& pairs, double* scores, std::vector<PairProblem>& problems) override;
  void learn(const TextPairs& pairs, std::vector<PairProblem>& problems) override;
  void score_then_learn(const TextPairs& pairs, double* scores,
                        std::vector<PairProblem>& problems) override;
  void learn_and_refresh(const TextPairs& pairs, std::vector<PairProblem>& problems) override {
    learn(pairs, problems);
  }
  [[nodiscard]] std::size_t room() const override { return SIZE_MAX; }
  void finish() override {}
  void rank(std::string_view x, std::span<const std::string_view> candidates, double* scores,
            std::vector<PairProblem>& problems) const override;
  [[nodiscard]] StreamFacts facts() const override;
  [[nodiscard]] const Calibration& calibration() const override { return calibration_; }

 private:
  void learn_one(const TextPairs& pairs, std::size_t i);

  Forgetting forgetting_;
  bool learns_identical_;
  CountPmi counts_;
  std::uint64_t pairs_ = 0;
  std::optional<double> latest_time_;
  Calibration calibration_;  // always empty
};

}  // namespace phsic
