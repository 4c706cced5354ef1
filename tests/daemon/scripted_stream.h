// A stream that does what a test says before it does what it always does.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/stream.h"

namespace phsic::test {

// Called before what they are named after; they may wait, and they may throw.
struct Script {
  std::function<void()> open;  // when a lane asks whether it counts
  std::function<void()> learn;
  std::function<void()> freeze;
  std::function<void()> build;
  std::function<void()> explain;
  // For so many rows of a batch there is memory, where pairs are learned as they are scored.
  std::function<std::size_t(std::size_t rows)> memory;
};

class ScriptedStream : public Stream, private PairCounter {
 public:
  ScriptedStream(std::unique_ptr<Stream> stream, const Script& script)
      : stream_(std::move(stream)), script_(script) {}

  [[nodiscard]] ItemShape shape_x() const override { return stream_->shape_x(); }
  [[nodiscard]] ItemShape shape_y() const override { return stream_->shape_y(); }
  [[nodiscard]] std::shared_ptr<const PublishedModel> published() const override {
    return stream_->published();
  }
  void encode(const TextPairs& pairs, Batch& batch) const override {
    stream_->encode(pairs, batch);
  }
  void take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const override {
    stream_->take(x, y, batch);
  }
  void score(Batch& batch) const override { stream_->score(batch); }
  [[nodiscard]] PairCounter* counter() override {
    if (script_.open) script_.open();
    return stream_->counter() == nullptr ? nullptr : this;
  }
  [[nodiscard]] std::size_t score_and_learn(Batch& batch, const double* times) override {
    const auto rows = script_.memory ? script_.memory(batch.size()) : batch.size();
    for (auto row = rows; row < batch.size(); ++row) batch.usable[row] = false;
    return std::min(rows, stream_->counter()->score_and_learn(batch, times));
  }
  void rank(std::string_view x, std::span<const std::string_view> candidates,
            Batch& batch) const override {
    stream_->rank(x, candidates, batch);
  }
  void rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
            Batch& batch) const override {
    stream_->rank(x, candidates, batch);
  }
  [[nodiscard]] std::optional<PairExplanation> explain(
      std::string_view x, std::string_view y, const ExplainQuestion& question) const override {
    if (script_.explain) script_.explain();
    return stream_->explain(x, y, question);
  }

  std::size_t learn(const LearnBatch& batch, std::size_t first, bool stops) override {
    if (script_.learn) script_.learn();
    return stream_->learn(batch, first, stops);
  }
  [[nodiscard]] std::size_t until_refresh() const override { return stream_->until_refresh(); }
  [[nodiscard]] bool is_measurable() const override { return stream_->is_measurable(); }
  [[nodiscard]] std::unique_ptr<Refresh> freeze(Extent extent) override {
    auto refresh = stream_->freeze(extent);
    if (script_.freeze) script_.freeze();
    if (refresh == nullptr) return nullptr;
    return std::make_unique<ScriptedRefresh>(std::move(refresh), script_);
  }
  void adopt(Refresh& refresh) override {
    stream_->adopt(*dynamic_cast<ScriptedRefresh&>(refresh).refresh);
  }
  bool refresh_every(std::uint64_t pairs) override { return stream_->refresh_every(pairs); }
  void choose_cuts(CutChooser chooser) override { stream_->choose_cuts(std::move(chooser)); }
  void set_cut(std::optional<double> cut) override { stream_->set_cut(cut); }
  void skip_refresh() override { stream_->skip_refresh(); }
  [[nodiscard]] std::uint64_t pairs() const override { return stream_->pairs(); }
  [[nodiscard]] std::uint64_t clipped() const override { return stream_->clipped(); }

  [[nodiscard]] std::vector<StreamTrait> identity() const override { return stream_->identity(); }
  [[nodiscard]] std::unique_ptr<const StreamState> state() const override {
    return stream_->state();
  }
  void restore(Reader& reader) override { stream_->restore(reader); }
  void freeze_again(Extent extent) override { stream_->freeze_again(extent); }
  void adopt_again(std::string_view adoption) override { stream_->adopt_again(adoption); }
  void merge(const StreamStorage& other) override { stream_->merge(other); }

 private:
  struct ScriptedRefresh : Refresh {
    ScriptedRefresh(std::unique_ptr<Refresh> of, const Script& by)
        : refresh(std::move(of)), script(by) {}
    void build() override {
      if (script.build) script.build();
      refresh->build();
    }
    [[nodiscard]] std::string adoption() const override { return refresh->adoption(); }

    std::unique_ptr<Refresh> refresh;
    const Script& script;
  };

  std::unique_ptr<Stream> stream_;
  const Script& script_;
};

}  // namespace phsic::test
