// A stream that learns moments of feature vectors and scores with the estimators of the core.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/explain.h"
#include "core/learner.h"
#include "core/refresh.h"
#include "engine/encoder.h"
#include "engine/model_stream.h"
#include "engine/refresh_schedule.h"
#include "engine/sampled_texts.h"

namespace phsic {

class KernelStream : public ModelStream {
 public:
  KernelStream(const StreamSpec& spec, const EncoderPath& path);

  [[nodiscard]] ItemShape shape_x() const override { return x_.shape(); }
  [[nodiscard]] ItemShape shape_y() const override { return y_.shape(); }
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
  [[nodiscard]] VectorPairs held_back_vectors() const override;
  void score_by(std::shared_ptr<const PublishedModel> published, Batch& batch) const override;
  void rank_by(std::shared_ptr<const PublishedModel> published, std::string_view x,
               std::span<const std::string_view> candidates, Batch& batch) const override;

  std::size_t learn(const LearnBatch& batch, std::size_t first, bool stops) override;
  [[nodiscard]] std::size_t until_refresh() const override;
  [[nodiscard]] bool is_measurable() const override;
  [[nodiscard]] std::unique_ptr<Refresh> freeze(Extent extent) override;
  void adopt(Refresh& refresh) override;
  bool refresh_every(std::uint64_t pairs) override;
  void choose_cuts(CutChooser chooser) override { choose_cut_ = std::move(chooser); }
  void set_cut(std::optional<double> cut) override;
  void will_judge_learned() override { judges_learned_ = true; }
  [[nodiscard]] std::size_t held_back() const override { return learner_.held_back(); }
  void skip_refresh() override;
  [[nodiscard]] std::uint64_t pairs() const override { return learner_.accepted(); }
  [[nodiscard]] std::uint64_t clipped() const override { return learner_.clipped(); }

  [[nodiscard]] std::vector<StreamTrait> identity() const override;
  [[nodiscard]] std::unique_ptr<const StreamState> state() const override;
  void restore(Reader& reader) override;
  void freeze_again(Extent extent) override;
  void adopt_again(std::string_view adoption) override;
  void merge(const StreamStorage& other) override;

  // For a stream of several views, of which this is one (view_stream.h).

  // Which pairs of the last learn() were refused, by their rows.
  [[nodiscard]] const std::vector<Fault>& faults() const { return faults_; }
  [[nodiscard]] double effective_pairs() const { return learner_.effective_pairs(); }
  class Frozen;  // what freeze() gives (kernel_refresh.h)
  // restore() in two steps, of which the second cannot fail, and says whether another estimator is
  // wanted now than was then.
  struct Kept;
  [[nodiscard]] std::shared_ptr<Kept> read(Reader& reader) const;
  bool go_on_with(Kept& kept);

 private:
  class State;
  // What the newest model turned out to be.
  struct Chosen {
    EstimatorKind kind = EstimatorKind::kPhsic;
    double ridge = 0;  // 0: none
  };
  // What scores of a model are explained with: the sample at the time it was built.
  struct Ground {
    std::shared_ptr<const PublishedModel> published;
    Reservoir<float>::Sample sample;
    SampledTexts texts;
    std::optional<Explainer<float>> explainer;  // made when it is first needed
  };

  static void save_chosen(const std::optional<Chosen>& chosen, Writer& writer);
  [[nodiscard]] static std::optional<Chosen> load_chosen(Reader& reader);
  [[nodiscard]] EstimatorSpec next_estimator(Extent extent) const;
  void note_refresh(Extent extent);
  void publish(PublishedModel published, std::shared_ptr<Ground> ground);
  void rank_encoded(std::shared_ptr<const PublishedModel> published, Batch& batch) const;
  [[nodiscard]] const double* own_shares(Batch& batch) const;
  void take_own_part_out(Batch& batch, const Ground& ground, std::vector<double>& contributions,
                         PairExplanation& from) const;
  void schedule();

  EstimatorSpec estimator_;
  Encoder x_;
  Encoder y_;
  bool learns_identical_;
  bool forgets_;

  std::shared_ptr<const PublishedModel> published_;  // std::atomic_load and _store only

  // For the learner's thread only.
  Learner<float> learner_;
  SampledTexts texts_;
  std::vector<Fault> faults_;  // scratch
  RefreshSchedule schedule_;
  std::uint64_t next_choice_ = 0;  // when so many pairs are accepted, a model's kind is chosen anew
  std::optional<Chosen> chosen_;
  CutChooser choose_cut_;  // empty: models have no cut
  bool judges_learned_ = false;

  mutable std::mutex explaining_;  // guards ground_ and what it points to
  std::shared_ptr<Ground> ground_;
};

}  // namespace phsic
