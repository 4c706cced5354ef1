// A stream that sees its pairs through several views: each has an encoder, a kernel and an
// estimator of its own, and learns the same pairs (kernel_stream.h).
//
// A pair's score is the blend of what its views say (core/blend.h). How much each counts is found
// with every model, on one half of the pairs that are held back from it, and measured on the other.
// A view that cannot read a pair is left out of its score, and does not learn it. One that finds
// nothing in it is left out, too, but learns it, as it would by itself. A view that does not count
// is asked only for pairs in which none of those that count finds anything.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/blend.h"
#include "engine/kernel_stream.h"
#include "engine/model_stream.h"
#include "engine/refresh_schedule.h"
#include "engine/sightings.h"
#include "engine/viewed_model.h"

namespace phsic {

class ViewStream : public ModelStream {
 public:
  // REQUIRES: two views at least.
  ViewStream(const StreamSpec& spec, const EncoderPath& path);

  // Pairs have to be texts: there is no vector that all views could take.
  [[nodiscard]] ItemShape shape_x() const override { return {ItemKind::kText, 0}; }
  [[nodiscard]] ItemShape shape_y() const override { return {ItemKind::kText, 0}; }
  [[nodiscard]] std::shared_ptr<const PublishedModel> published() const override;
  void encode(const TextPairs& pairs, Batch& batch) const override;
  void take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const override;
  void score(Batch& batch) const override;
  void rank(std::string_view x, std::span<const std::string_view> candidates,
            Batch& batch) const override;
  void rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
            Batch& batch) const override;
  [[nodiscard]] std::optional<PairExplanation> explain(
      std::string_view x, std::string_view y, const ExplainQuestion& question) const override;

  [[nodiscard]] std::vector<StreamView> views() const override;
  [[nodiscard]] std::vector<BuiltView> built(const Refresh& refresh) const override;
  void score_by(std::shared_ptr<const PublishedModel> published, Batch& batch) const override;
  void rank_by(std::shared_ptr<const PublishedModel> published, std::string_view x,
               std::span<const std::string_view> candidates, Batch& batch) const override;

  std::size_t learn(const LearnBatch& batch, std::size_t first, bool stops) override;
  [[nodiscard]] std::size_t until_refresh() const override { return schedule_.until(pairs_); }
  [[nodiscard]] bool is_measurable() const override;
  [[nodiscard]] std::unique_ptr<Refresh> freeze(Extent extent) override;
  void adopt(Refresh& refresh) override;
  bool refresh_every(std::uint64_t pairs) override;
  void choose_cuts(CutChooser chooser) override { choose_cut_ = std::move(chooser); }
  void set_cut(std::optional<double> cut) override;
  void will_judge_learned() override;
  [[nodiscard]] std::size_t held_back() const override;
  void skip_refresh() override;
  [[nodiscard]] std::uint64_t pairs() const override { return pairs_; }
  [[nodiscard]] std::uint64_t clipped() const override;

  [[nodiscard]] std::vector<StreamTrait> identity() const override;
  [[nodiscard]] std::unique_ptr<const StreamState> state() const override;
  void restore(Reader& reader) override;
  void freeze_again(Extent extent) override;
  void adopt_again(std::string_view adoption) override;
  void merge(const StreamStorage& other) override;

 private:
  class Frozen;  // what freeze() gives (view_refresh.h)
  class State;

  void learn_rows(const LearnBatch& batch, std::size_t first, std::size_t count, std::size_t view,
                  std::uint8_t* accepted);
  void publish(PublishedModel published);
  void schedule();

  std::vector<std::string> names_;  // ascending
  std::vector<std::unique_ptr<KernelStream>> views_;
  bool forgets_;

  std::shared_ptr<const PublishedModel> published_;  // std::atomic_load and _store only

  // For the learner's thread only.
  std::uint64_t pairs_ = 0;  // that any view has learned
  Sightings sightings_;
  RefreshSchedule schedule_;
  std::optional<Blend> blend_;                       // the newest that was chosen, see Frozen
  CutChooser choose_cut_;                            // empty: models have no cut
  std::vector<std::vector<std::uint8_t>> accepted_;  // scratch

  // Held while views adopt models, so that all parts of an explanation are of one model.
  mutable std::mutex adopting_;
};

}  // namespace phsic
