// How a stream with models is kept: what it depends on, what it has learned, what happened to it.
#include <fmt/format.h>

#include <utility>

#include "engine/kernel_stream.h"

namespace phsic {
namespace {

// Saves which estimator was asked for. The user may ask for another at the next start.
void save_spec(const EstimatorSpec& spec, Writer& writer) {
  writer.number<std::uint8_t>(spec.kind ? static_cast<std::uint8_t>(*spec.kind) + 1 : 0);
  writer.number(spec.ridge.value_or(-1));
  writer.number<std::uint64_t>(spec.rank);
  writer.number<std::uint8_t>(spec.phsic_at_rank);
  writer.number<std::uint8_t>(spec.centered);
}

EstimatorSpec load_spec(Reader& reader) {
  constexpr auto kKinds = static_cast<std::uint8_t>(EstimatorKind::kGaussianPmi) + 1;
  EstimatorSpec spec;
  const auto kind = reader.number_in<std::uint8_t>("estimator", 0, kKinds);
  spec.kind = kind == 0 ? std::optional<EstimatorKind>() : static_cast<EstimatorKind>(kind - 1);
  const double ridge = reader.finite("ridge");
  spec.ridge = ridge < 0 ? std::optional<double>() : ridge;
  spec.rank = reader.number<std::uint64_t>("rank");
  spec.phsic_at_rank = reader.flag("rank of phsic");
  spec.centered = reader.flag("centered");
  return spec;
}

std::string describe(const Forgetting& forgetting) {
  const char* unit = forgetting.by_seconds() ? "seconds" : "pairs";
  switch (forgetting.mode) {
    case Forgetting::Mode::kNever: return "never";
    case Forgetting::Mode::kHalfLifePairs:
    case Forgetting::Mode::kHalfLifeSeconds:
      return fmt::format("half-life of {} {}", forgetting.span, unit);
    default: return fmt::format("window of {} {}", forgetting.span, unit);
  }
}

std::string identity_of(const Encoder& encoder) {
  const auto shape = encoder.shape().to_string();
  return encoder.identity().empty() ? shape : fmt::format("{}, {}", encoder.identity(), shape);
}

}  // namespace

class KernelStream::State : public StreamState {
 public:
  explicit State(const KernelStream& stream)
      : learner_(stream.learner_),
        texts_(stream.texts_),
        published_(stream.published()),
        estimator_(stream.estimator_),
        schedule_(stream.schedule_),
        next_choice_(stream.next_choice_),
        chosen_(stream.chosen_) {}

  void save(Writer& writer) const override {
    save_spec(estimator_, writer);
    schedule_.save(writer);
    writer.number(next_choice_);
    save_chosen(chosen_, writer);
    writer.number(published_->number);
    writer.number<std::uint8_t>(published_->is_whole);
    published_->model->save(writer);
    learner_.save(writer);
    // Only texts that may be asked for again: how many others there are depends on batches.
    auto texts = texts_;
    texts.keep_only(learner_.kept_numbers());
    texts.save(writer);
  }

 private:
  Learner<float> learner_;
  SampledTexts texts_;
  std::shared_ptr<const PublishedModel> published_;
  EstimatorSpec estimator_;
  RefreshSchedule schedule_;
  std::uint64_t next_choice_;
  std::optional<Chosen> chosen_;
};

void KernelStream::save_chosen(const std::optional<Chosen>& chosen, Writer& writer) {
  writer.number<std::uint8_t>(chosen.has_value());
  if (!chosen) return;
  writer.number(chosen->kind);
  writer.number(chosen->ridge);
}

std::optional<KernelStream::Chosen> KernelStream::load_chosen(Reader& reader) {
  if (!reader.flag("has an estimator")) return std::nullopt;
  Chosen chosen;
  chosen.kind = reader.enumerator("chosen estimator", EstimatorKind::kGaussianPmi);
  chosen.ridge = reader.finite("chosen ridge");
  if (chosen.ridge < 0) reader.refuse("chosen ridge", "found a negative one");
  return chosen;
}

std::vector<StreamTrait> KernelStream::identity() const {
  const auto& config = learner_.config();
  return {
      {"x encoder", identity_of(x_)},
      {"y encoder", identity_of(y_)},
      {"x kernel", config.x.kernel.to_string()},
      {"y kernel", config.y.kernel.to_string()},
      {"pivots", fmt::format("{} {}", config.x.pivots,
                             config.pivot_rule == PivotRule::kRandom ? "random" : "greedy")},
      {"forgetting", describe(config.forgetting)},
      {"reservoir", fmt::format("{}", config.reservoir)},
      {"held-back", fmt::format("{}", config.held_back)},
      {"learn-identical", learns_identical_ ? "true" : "false"},
      {"seed", fmt::format("{}", config.seed)},
  };
}

std::unique_ptr<const StreamState> KernelStream::state() const {
  return std::make_unique<const State>(*this);
}

struct KernelStream::Kept {
  EstimatorSpec estimator;
  RefreshSchedule schedule;
  std::uint64_t next_choice;
  std::optional<Chosen> chosen;
  PublishedModel published;
  Learner<float> learner;
  SampledTexts texts;
};

std::shared_ptr<KernelStream::Kept> KernelStream::read(Reader& reader) const {
  const auto spec = load_spec(reader);
  const auto schedule = RefreshSchedule::load(reader);
  const auto next_choice = reader.number<std::uint64_t>("next choice");
  const auto chosen = load_chosen(reader);
  PublishedModel published;
  published.number = reader.number<std::uint64_t>("model");
  published.is_whole = reader.flag("model of all");
  const auto& config = learner_.config();
  auto model = Model<float>::load(reader);
  if (model.shape_x() != config.x.items || model.shape_y() != config.y.items) {
    reader.refuse("model", "found one of other items, expected the stream's");
  }
  published.model = std::make_shared<const Model<float>>(std::move(model));
  auto learner = Learner<float>::load(reader);
  if (learner.config() != config) {
    reader.refuse("configuration", "found another one, expected the stream's");
  }
  auto texts = SampledTexts::load(reader);
  reader.finish();
  return std::make_shared<Kept>(Kept{spec, schedule, next_choice, chosen, std::move(published),
                                     std::move(learner), std::move(texts)});
}

bool KernelStream::go_on_with(Kept& kept) {
  learner_ = std::move(kept.learner);
  texts_ = std::move(kept.texts);
  schedule_ = kept.schedule;
  next_choice_ = kept.next_choice;
  chosen_ = kept.chosen;
  const bool wants_another = kept.estimator != estimator_;
  if (wants_another) {
    // Another kind of model is wanted now, so the next one is due at once.
    chosen_.reset();
    schedule_.hurry(learner_.accepted());
    next_choice_ = 0;
  }
  auto ground = std::make_shared<Ground>();
  if (texts_.size() > 0 && kept.published.number > 0) {
    ground->sample = learner_.sample_with_recent(Extent::kWithoutHeldBack);
    ground->texts = texts_;
  }
  publish(std::move(kept.published), std::move(ground));
  return wants_another;
}

void KernelStream::restore(Reader& reader) { go_on_with(*read(reader)); }

void KernelStream::freeze_again(Extent extent) { note_refresh(extent); }

void KernelStream::adopt_again(std::string_view adoption) {
  Reader reader(adoption);
  const auto chosen = load_chosen(reader);
  std::optional<PivotChange<float>> pivots;
  if (reader.flag("new pivots")) pivots = PivotChange<float>::load(reader);
  reader.finish();
  if (pivots) learner_.adopt(*pivots);
  chosen_ = chosen;
  // The number moves on; the model itself stays the old one until a built one is adopted.
  auto next = *published();
  ++next.number;
  publish(std::move(next), std::make_shared<Ground>());
}

void KernelStream::merge(const StreamStorage& other) {
  const auto* like = dynamic_cast<const KernelStream*>(&other);
  if (like == nullptr) throw Error("found a stream that counts, expected one with kernels");
  learner_.merge(like->learner_);
  // The other's pairs may have the same numbers as ours, so no text can be found by its number.
  texts_ = SampledTexts();
  schedule_.hurry(learner_.accepted());
}

}  // namespace phsic
