// How a stream with a judge is kept: as the stream that it drives, and what judging takes.
#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/model.h"
#include "engine/judged_stream.h"
#include "engine/viewed_model.h"

namespace phsic {
namespace {

// Before the state of a stream with a judge. That of a stream without one never begins so.
constexpr std::uint8_t kJudged = 74;

}  // namespace

class JudgedStream::State : public StreamState {
 public:
  explicit State(const JudgedStream& stream) : stream_(stream.stream_->state()) {
    if (!stream.judges()) return;
    fluency_ = std::make_unique<const FluencyPair>(*stream.fluency_);
    held_back_.assign(stream.held_back_.begin(), stream.held_back_.end());
    judge_ = stream.published()->judge;
  }

  void save(Writer& writer) const override {
    if (fluency_ == nullptr) {
      stream_->save(writer);
      return;
    }
    writer.number(kJudged);
    fluency_->x.save(writer);
    fluency_->y.save(writer);
    writer.number<std::uint32_t>(static_cast<std::uint32_t>(held_back_.size()));
    for (const auto& [x, y] : held_back_) {
      writer.text(x);
      writer.text(y);
    }
    writer.number<std::uint8_t>(judge_ != nullptr);
    if (judge_ != nullptr) judge_->save(writer);
    stream_->save(writer);
  }

 private:
  std::unique_ptr<const StreamState> stream_;
  std::unique_ptr<const FluencyPair> fluency_;  // null without a judge
  std::vector<Texts> held_back_;
  std::shared_ptr<const Judge> judge_;
};

std::unique_ptr<const StreamState> JudgedStream::state() const {
  return std::make_unique<const State>(*this);
}

void JudgedStream::restore(Reader& reader) {
  const auto rest = reader.rest();
  std::unique_ptr<FluencyPair> fluency;
  std::deque<Texts> held_back;
  std::optional<SavedJudge> saved;
  const bool has_judge = !rest.empty() && static_cast<std::uint8_t>(rest.front()) == kJudged;
  if (has_judge) {
    static_cast<void>(reader.number<std::uint8_t>("mark of a judge"));
    fluency = std::make_unique<FluencyPair>();
    for (auto* side : {&fluency->x, &fluency->y}) {
      *side = Fluency::load(reader);
      const auto wanted = judges() ? fluency_->x.half_life_pairs() : side->half_life_pairs();
      if (side->half_life_pairs() == wanted) continue;
      reader.refuse("half-life of words",
                    fmt::format("found {}, expected {}", side->half_life_pairs(), wanted));
    }
    const auto count = reader.number_in<std::uint32_t>("held-back texts", 0, kMostHeldBack);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto x = reader.text("held-back text", kLongestText);
      held_back.push_back({std::move(x), reader.text("held-back text", kLongestText)});
    }
    if (reader.flag("judge")) saved = SavedJudge::load(reader);
  }
  stream_->restore(reader);
  // Nothing was changed before the stream itself was restored.
  std::shared_ptr<const Judge> judge;
  if (judges() && has_judge) {
    fluency_ = std::move(fluency);
    held_back_ = std::move(held_back);
    if (saved) judge = open_judge(std::move(*saved));
  }
  publish(std::move(judge));
}

// The saved judge with the models in use. Null where they do not fit each other: then the next
// model gets a new one.
std::shared_ptr<const Judge> JudgedStream::open_judge(SavedJudge saved) const {
  const auto views = stream_->views();
  const auto published = stream_->published();
  std::vector<JudgedView> judged;
  for (const auto& [number, halves] : saved.views) {
    if (number >= views.size()) return nullptr;
    // Others need not be asked, and have no coordinates then.
    const auto& viewed = published->viewed;
    if (viewed != nullptr && !(viewed->blend.parts()[number].weight > 0)) return nullptr;
    const auto& model = viewed == nullptr ? published->model : viewed->parts[number]->model;
    if (model == nullptr || model->estimator() == nullptr) return nullptr;
    judged.push_back({number, views[number].name, views[number].x, views[number].y, model, halves});
  }
  ComponentReader reader(std::move(judged), std::move(saved.fluency), saved.norm);
  if (reader.size() != saved.fitted.standardiser.columns()) return nullptr;
  return std::make_shared<const Judge>(std::move(reader), std::move(saved.fitted));
}

}  // namespace phsic
