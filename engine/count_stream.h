// A stream that counts: pointwise mutual information of texts that recur exactly (core/pmi.h).
//
// Its counts are its model, so every pair is scored by all pairs before it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "core/pmi.h"
#include "engine/stream.h"

namespace phsic {

class CountStream : public Stream, private PairCounter {
 public:
  // Throws when the stream is to forget in a way that counts cannot.
  explicit CountStream(const StreamSpec& spec);

  [[nodiscard]] ItemShape shape_x() const override { return texts_.shape(); }
  [[nodiscard]] ItemShape shape_y() const override { return texts_.shape(); }
  [[nodiscard]] std::shared_ptr<const PublishedModel> published() const override {
    return std::atomic_load(&published_);
  }
  void encode(const TextPairs& pairs, Batch& batch) const override;
  void take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const override;
  void score(Batch& batch) const override;
  [[nodiscard]] PairCounter* counter() override { return this; }
  [[nodiscard]] std::size_t score_and_learn(Batch& batch, const double* times) override;
  void rank(std::string_view x, std::span<const std::string_view> candidates,
            Batch& batch) const override;
  void rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
            Batch& batch) const override;
  [[nodiscard]] std::optional<PairExplanation> explain(
      std::string_view x, std::string_view y, const ExplainQuestion& question) const override;

  std::size_t learn(const LearnBatch& batch, std::size_t first, bool stops) override;
  [[nodiscard]] std::size_t until_refresh() const override { return SIZE_MAX; }
  [[nodiscard]] bool is_measurable() const override { return true; }
  [[nodiscard]] std::unique_ptr<Refresh> freeze(Extent extent) override;
  void adopt(Refresh& refresh) override;
  bool refresh_every(std::uint64_t /*pairs*/) override { return false; }
  void choose_cuts(CutChooser /*chooser*/) override {}
  void set_cut(std::optional<double> cut) override;
  void skip_refresh() override {}
  [[nodiscard]] std::uint64_t pairs() const override;
  [[nodiscard]] std::uint64_t clipped() const override { return 0; }

  [[nodiscard]] std::vector<StreamTrait> identity() const override;
  [[nodiscard]] std::unique_ptr<const StreamState> state() const override;
  void restore(Reader& reader) override;
  void freeze_again(Extent /*extent*/) override {}
  void adopt_again(std::string_view adoption) override;
  void merge(const StreamStorage& other) override;

 private:
  class State;
  template <class Then>
  void score_each(Batch& batch, const Then& then) const;
  void learn_one(std::string_view x, std::string_view y, const double* time);

  Encoder texts_{Encoder::kWhole};
  std::shared_ptr<const PublishedModel> published_;  // std::atomic_load and _store only
  Forgetting forgetting_;
  bool learns_identical_;

  mutable std::mutex counting_;  // guards what follows
  CountPmi counts_;
  std::uint64_t pairs_ = 0;
  std::optional<double> latest_time_;
};

}  // namespace phsic
