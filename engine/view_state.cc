// How a stream with several views is kept: as its views are, and what they have in common.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "core/error.h"
#include "engine/view_stream.h"

namespace phsic {

class ViewStream::State : public StreamState {
 public:
  explicit State(const ViewStream& stream)
      : pairs_(stream.pairs_),
        sightings_(stream.sightings_),
        schedule_(stream.schedule_),
        blend_(stream.blend_.value_or(Blend(std::vector<Blend::Part>(stream.views_.size())))),
        published_(stream.published()) {
    for (const auto& view : stream.views_) views_.push_back(view->state());
  }

  void save(Writer& writer) const override {
    writer.number<std::uint8_t>(static_cast<std::uint8_t>(views_.size()));
    writer.number(pairs_);
    sightings_.save(writer);
    schedule_.save(writer);
    writer.number(published_->number);
    writer.number<std::uint8_t>(published_->is_whole);
    const auto& viewed = *published_->viewed;
    blend_.save(writer);
    viewed.blend.save(writer);
    viewed.calibration.save(writer);
    viewed.facts.save(writer);
    for (const auto& view : views_) {
      Writer own;
      view->save(own);
      writer.text(own.bytes());
    }
  }

 private:
  std::uint64_t pairs_;
  Sightings sightings_;
  RefreshSchedule schedule_;
  Blend blend_;  // all weights are 0 where none was chosen
  std::shared_ptr<const PublishedModel> published_;
  std::vector<std::unique_ptr<const StreamState>> views_;
};

std::vector<StreamTrait> ViewStream::identity() const {
  std::vector<StreamTrait> traits = {{"views", fmt::format("{}", fmt::join(names_, ", "))}};
  for (std::size_t v = 0; v < views_.size(); ++v) {
    for (auto& trait : views_[v]->identity()) {
      traits.push_back({fmt::format("view {}, {}", names_[v], trait.name), std::move(trait.value)});
    }
  }
  return traits;
}

std::unique_ptr<const StreamState> ViewStream::state() const {
  return std::make_unique<const State>(*this);
}

void ViewStream::restore(Reader& reader) {
  const auto count = reader.number<std::uint8_t>("views");
  if (count != views_.size()) {
    reader.refuse("views", fmt::format("found {}, expected {}", count, views_.size()));
  }
  const auto pairs = reader.number<std::uint64_t>("pairs");
  auto sightings = sightings_.load_like(reader, pairs);
  const auto schedule = RefreshSchedule::load(reader);
  PublishedModel published;
  published.number = reader.number<std::uint64_t>("model");
  published.is_whole = reader.flag("model of all");
  auto viewed = std::make_shared<ViewedModel>();
  viewed->names = names_;
  auto newest = Blend::load(reader);
  viewed->blend = Blend::load(reader);
  for (const auto* blend : {&newest, &viewed->blend}) {
    if (blend->parts().size() == views_.size()) continue;
    reader.refuse("weights",
                  fmt::format("found {}, expected {}", blend->parts().size(), views_.size()));
  }
  viewed->calibration = Calibration::load(reader);
  viewed->facts = ModelFacts::load(reader);
  std::vector<std::shared_ptr<KernelStream::Kept>> kept;
  for (const auto& view : views_) {
    const auto bytes = reader.text("view", reader.rest().size());
    Reader own(bytes, reader.version());
    kept.push_back(view->read(own));
  }
  reader.finish();

  pairs_ = pairs;
  sightings_ = std::move(sightings);
  schedule_ = schedule;
  blend_.reset();
  if (published.number > 0) blend_ = std::move(newest);
  const std::lock_guard lock(adopting_);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    // Another kind of model is wanted now, so the next one is due at once.
    if (views_[v]->go_on_with(*kept[v])) schedule_.hurry(pairs_);
    viewed->parts.push_back(views_[v]->published());
  }
  viewed->find_others();
  published.viewed = std::move(viewed);
  publish(std::move(published));
}

void ViewStream::freeze_again(Extent extent) {
  for (const auto& view : views_) view->freeze_again(extent);
  if (extent != Extent::kAll) schedule();
}

void ViewStream::adopt_again(std::string_view adoption) {
  Reader reader(adoption);
  std::vector<std::optional<std::string>> adoptions;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    adoptions.emplace_back();
    if (reader.flag("view was built"))
      adoptions.back() = reader.text("adoption of a view", reader.rest().size());
  }
  auto blend = Blend::load(reader);
  reader.finish();
  if (blend.parts().size() != views_.size()) {
    throw Error(fmt::format("adoption: found the weights of {} views, expected {}",
                            blend.parts().size(), views_.size()));
  }
  for (std::size_t v = 0; v < views_.size(); ++v) {
    if (adoptions[v]) views_[v]->adopt_again(*adoptions[v]);
  }
  blend_ = std::move(blend);
  // The number moves on; the model itself stays the old one until a built one is adopted.
  auto next = *published();
  ++next.number;
  publish(std::move(next));
}

void ViewStream::merge(const StreamStorage& other) {
  const auto* like = dynamic_cast<const ViewStream*>(&other);
  if (like == nullptr || like->names_ != names_) {
    throw Error("found a stream of other views, expected one of the same");
  }
  for (std::size_t v = 0; v < views_.size(); ++v) views_[v]->merge(*like->views_[v]);
  // The pairs that the other one holds back are learned now: what they have chosen is all that is
  // left of them, and ours may be too few to choose.
  const bool has_chosen = blend_ && blend_->has_say();
  const bool other_has = like->blend_ && like->blend_->has_say();
  if (other_has && (!has_chosen || like->pairs_ > pairs_)) blend_ = like->blend_;
  pairs_ += like->pairs_;
  schedule_.hurry(pairs_);
}

}  // namespace phsic
