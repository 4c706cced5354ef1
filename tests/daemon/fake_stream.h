// A stream without mathematics: a pair's items are the sizes of its texts, or the vectors of one
// number that came, and its score is x less y.
//
//   "bad"     a text that cannot be encoded: a problem of its pair
//   "broken"  a text that the encoder fails on: nothing of the batch is encoded
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/calibration.h"
#include "core/model.h"
#include "engine/stream.h"

namespace phsic::test {

[[nodiscard]] inline std::shared_ptr<const PublishedModel> fake_model(
    std::uint64_t number, Calibration calibration = {}) {
  constexpr ItemShape kShape{ItemKind::kDense, 1};
  auto published = std::make_shared<PublishedModel>();
  published->number = number;
  published->model = std::make_shared<const Model<float>>(
      kShape, kShape, nullptr, nullptr, std::nullopt, std::move(calibration), ModelFacts());
  return published;
}

class FakeStream : public phsic::Stream {
 public:
  // Called before what they are named after; they may wait, and they may throw.
  std::function<void(std::size_t rows)> when_encoded;
  std::function<void()> when_learned;
  std::function<void()> when_frozen;
  std::function<void()> when_built;
  std::function<void()> when_adopted;
  std::function<void()> when_copied;  // by state()
  std::function<void()> when_saved;
  std::function<std::optional<PairExplanation>()> explanation;
  std::function<bool(float x)> refuses;  // such pairs are not learned
  std::size_t refresh_pairs = SIZE_MAX;
  // What the learner was told of cuts.
  CutChooser chooser;
  std::optional<double> cut;
  std::size_t cuts_set = 0;

  void publish(std::shared_ptr<const PublishedModel> model) {
    const std::lock_guard lock(mutex_);
    published_ = std::move(model);
  }
  // x of the pairs that were learned. The learner's thread.
  [[nodiscard]] const std::vector<float>& learned() const { return learned_; }
  [[nodiscard]] const std::vector<PairExtent>& frozen() const { return frozen_; }
  // How many pairs the model in use has learned.
  [[nodiscard]] std::size_t adopted() const { return adopted_; }

  [[nodiscard]] ItemShape shape_x() const override { return {ItemKind::kDense, 1}; }
  [[nodiscard]] ItemShape shape_y() const override { return {ItemKind::kDense, 1}; }
  [[nodiscard]] std::shared_ptr<const PublishedModel> published() const override {
    const std::lock_guard lock(mutex_);
    return published_;
  }
  void encode(const TextPairs& pairs, Batch& batch) const override {
    if (when_encoded) when_encoded(pairs.x.size());
    std::vector<float> values[2];
    std::vector<bool> are_bad(pairs.x.size(), false);
    for (std::size_t i = 0; i < pairs.x.size(); ++i) {
      for (const auto side : {0, 1}) {
        const auto text = (side == 0 ? pairs.x : pairs.y)[i];
        if (text == "broken") throw Error("the encoder is broken");
        if (text == "bad") are_bad[i] = true;
        values[side].push_back(static_cast<float>(text.size()));
      }
    }
    fill(batch, values[0], values[1], are_bad);
  }
  void take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const override {
    const std::vector<float> of_x(x.data, x.data + x.rows);
    const std::vector<float> of_y(y.data, y.data + y.rows);
    std::vector<bool> are_bad;
    for (std::size_t i = 0; i < x.rows; ++i) {
      are_bad.push_back(!std::isfinite(of_x[i]) || !std::isfinite(of_y[i]));
    }
    fill(batch, of_x, of_y, are_bad);
  }
  void score(Batch& batch) const override {
    batch.published = published();
    batch.scores.clear();
    const auto x = std::get<DenseRows<float>>(batch.x.view());
    const auto y = std::get<DenseRows<float>>(batch.y.view());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch.scores.push_back(batch.usable[i] ? static_cast<double>(*x.row(i) - *y.row(i))
                                             : std::numeric_limits<double>::quiet_NaN());
    }
  }
  void rank(std::string_view x, std::span<const std::string_view> candidates,
            Batch& batch) const override {
    const std::vector<std::string_view> all(candidates.size(), x);
    encode({all, candidates, {}}, batch);
    score(batch);
    if (x == "bad") batch.problems = {{PairProblem::kNoRow, "a bad text"}};
  }
  void rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
            Batch& batch) const override {
    const std::vector<float> all(candidates.rows, *x.data);
    take({all.data(), all.size(), 1}, candidates, batch);
    score(batch);
  }
  [[nodiscard]] std::optional<PairExplanation> explain(
      std::string_view /*x*/, std::string_view /*y*/,
      const ExplainQuestion& /*question*/) const override {
    return explanation ? explanation() : std::nullopt;
  }

  std::size_t learn(const LearnBatch& batch, std::size_t first, bool stops) override {
    if (when_learned) when_learned();
    const auto x = std::get<DenseRows<float>>(batch.x);
    for (; first < x.rows && !(stops && until_refresh() == 0); ++first) {
      if (refuses && refuses(*x.row(first))) continue;
      learned_.push_back(*x.row(first));
      ++since_frozen_;
    }
    return first;
  }
  [[nodiscard]] std::size_t until_refresh() const override {
    return refresh_pairs - std::min(refresh_pairs, since_frozen_);
  }
  [[nodiscard]] bool is_measurable() const override { return !learned_.empty(); }
  [[nodiscard]] std::unique_ptr<Refresh> freeze(Extent extent) override {
    since_frozen_ = 0;
    if (when_frozen) when_frozen();
    frozen_.push_back(extent);
    return std::make_unique<FakeRefresh>(*this, learned_.size());
  }
  void adopt(Refresh& refresh) override {
    if (when_adopted) when_adopted();
    adopted_ = dynamic_cast<FakeRefresh&>(refresh).pairs;
    publish(fake_model(published()->number + 1));
  }
  bool refresh_every(std::uint64_t /*pairs*/) override { return false; }
  void choose_cuts(CutChooser with) override { chooser = std::move(with); }
  void set_cut(std::optional<double> wanted) override {
    cut = wanted;
    ++cuts_set;
  }
  void skip_refresh() override { since_frozen_ = 0; }
  [[nodiscard]] std::uint64_t pairs() const override { return learned_.size(); }
  [[nodiscard]] std::uint64_t clipped() const override { return 0; }

  [[nodiscard]] std::vector<StreamTrait> identity() const override { return {}; }
  [[nodiscard]] std::unique_ptr<const StreamState> state() const override {
    if (when_copied) when_copied();
    return std::make_unique<FakeState>(*this);
  }
  void restore(Reader& reader) override { learned_ = reader.array<float>("learned"); }
  void freeze_again(Extent /*extent*/) override {}
  void adopt_again(std::string_view /*adoption*/) override {}
  void merge(const phsic::StreamStorage& /*other*/) override {}

 private:
  struct FakeRefresh : Refresh {
    FakeRefresh(const FakeStream& of, std::size_t count) : stream(of), pairs(count) {}
    void build() override {
      if (stream.when_built) stream.when_built();
    }
    [[nodiscard]] std::string adoption() const override { return {}; }

    const FakeStream& stream;
    const std::size_t pairs;
  };

  struct FakeState : StreamState {
    explicit FakeState(const FakeStream& of) : stream(of), learned(of.learned_) {}
    void save(Writer& writer) const override {
      if (stream.when_saved) stream.when_saved();
      writer.array(learned);
    }

    const FakeStream& stream;
    const std::vector<float> learned;
  };

  static void fill(Batch& batch, const std::vector<float>& x, const std::vector<float>& y,
                   const std::vector<bool>& are_bad) {
    batch.x.take({x.data(), x.size(), 1});
    batch.y.take({y.data(), y.size(), 1});
    batch.problems.clear();
    batch.usable.assign(x.size(), true);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!are_bad[i]) continue;
      batch.problems.push_back({i, "a bad text"});
      batch.usable[i] = false;
    }
  }

  mutable std::mutex mutex_;  // guards published_
  std::shared_ptr<const PublishedModel> published_ = fake_model(0);
  std::vector<float> learned_;
  std::vector<PairExtent> frozen_;
  std::size_t since_frozen_ = 0;
  std::size_t adopted_ = 0;
};

}  // namespace phsic::test
