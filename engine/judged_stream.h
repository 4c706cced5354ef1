// A stream whose models have a judge: every pair that is scored gets a quality, too (judge.h).
//
// It drives a stream of models and adds what judging takes: it counts how the words of learned
// texts follow each other, keeps the texts of the pairs that are held back, and fits a judge
// wherever a model is built. Held-back pairs teach it nothing until they are learned. A judge is a
// function of what was learned, so that a replay fits the same one. Of pairs of vectors, and of
// texts if that was asked for, it is fitted to pairs that were given each other's y. Without a
// judge (StreamSpec) this is the stream that it drives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fluency.h"
#include "engine/judge.h"
#include "engine/model_stream.h"
#include "engine/stream.h"

namespace phsic {

class JudgedStream : public Stream {
 public:
  JudgedStream(std::unique_ptr<ModelStream> stream, const StreamSpec& spec);

  [[nodiscard]] ItemShape shape_x() const override { return stream_->shape_x(); }
  [[nodiscard]] ItemShape shape_y() const override { return stream_->shape_y(); }
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

  std::size_t learn(const LearnBatch& batch, std::size_t first, bool stops) override;
  [[nodiscard]] std::size_t until_refresh() const override { return stream_->until_refresh(); }
  [[nodiscard]] bool is_measurable() const override { return stream_->is_measurable(); }
  [[nodiscard]] std::unique_ptr<Refresh> freeze(Extent extent) override;
  void adopt(Refresh& refresh) override;
  bool refresh_every(std::uint64_t pairs) override { return stream_->refresh_every(pairs); }
  void choose_cuts(CutChooser chooser) override { stream_->choose_cuts(std::move(chooser)); }
  void cut_by_quality(bool is_by_quality) override { cuts_by_quality_ = is_by_quality; }
  void set_cut(std::optional<double> cut) override;
  void will_judge_learned() override { stream_->will_judge_learned(); }
  [[nodiscard]] std::size_t held_back() const override { return stream_->held_back(); }
  void skip_refresh() override { stream_->skip_refresh(); }
  [[nodiscard]] std::uint64_t pairs() const override { return stream_->pairs(); }
  [[nodiscard]] std::uint64_t clipped() const override { return stream_->clipped(); }

  [[nodiscard]] std::vector<StreamTrait> identity() const override { return stream_->identity(); }
  [[nodiscard]] std::unique_ptr<const StreamState> state() const override;
  void restore(Reader& reader) override;
  void freeze_again(Extent extent) override { stream_->freeze_again(extent); }
  void adopt_again(std::string_view adoption) override;
  void merge(const StreamStorage& other) override;

 private:
  class Frozen;
  class State;
  // Longer texts fit no judge; with the most that are held back this bounds their memory.
  static constexpr std::size_t kLongestText = 4096;
  static constexpr std::uint32_t kMostHeldBack = 1U << 20U;
  struct Texts {
    std::string x;
    std::string y;
  };

  [[nodiscard]] bool judges() const { return fluency_ != nullptr; }
  void publish(std::shared_ptr<const Judge> judge);
  void count_words(const Texts& texts);
  [[nodiscard]] std::shared_ptr<const Judge> open_judge(SavedJudge saved) const;
  void score_and_judge(std::shared_ptr<const PublishedModel> published, Batch& batch) const;
  void judge(Batch& batch) const;

  std::unique_ptr<ModelStream> stream_;
  std::uint64_t seed_;
  bool by_exchange_;
  std::optional<bool> halves_;  // whether they are looked at; none: where they cost little
  bool reads_vectors_;          // from texts, if there are any, which say nothing else

  std::shared_ptr<const PublishedModel> published_;  // std::atomic_load and _store only

  // For the learner's thread only.
  bool cuts_by_quality_ = false;
  // Null without a judge.
  std::unique_ptr<FluencyPair> fluency_;
  std::deque<Texts> held_back_;  // oldest first
  TextSketch sketch_;            // scratch
};

}  // namespace phsic
