#include "engine/model_cycle.h"

#include <utility>

namespace phsic {

ModelCycle::ModelCycle(StreamLearner& stream, Notes* notes, std::unique_ptr<Refresh> pending)
    : stream_(stream), notes_(notes), pending_(std::move(pending)) {}

std::size_t ModelCycle::learn(const LearnBatch& batch, std::size_t first) {
  return stream_.learn(batch, first, pending_ == nullptr);
}

void ModelCycle::refresh_every(std::uint64_t pairs) {
  if (stream_.refresh_every(pairs) && notes_ != nullptr) notes_->refresh_every(pairs);
}

bool ModelCycle::is_due() const { return pending_ == nullptr && stream_.until_refresh() == 0; }

bool ModelCycle::begin(PairExtent extent) {
  try {
    pending_ = stream_.freeze(extent);
  } catch (...) {
    // The next model is due as if this one had been built, so the notes must have both steps.
    if (notes_ != nullptr) {
      notes_->freeze(extent);
      notes_->abandon();
    }
    throw;
  }
  if (pending_ == nullptr) return false;
  if (notes_ != nullptr) notes_->freeze(extent);
  return true;
}

void ModelCycle::adopt() {
  if (const auto problem = finish(Built::kYes)) throw Error(*problem);
}

std::optional<Error> ModelCycle::complete() { return finish(Built::kNotYet); }

std::optional<Error> ModelCycle::finish(Built built) {
  std::string adoption;
  try {
    if (built == Built::kNotYet) pending_->build();
    if (notes_ != nullptr) adoption = pending_->adoption();
  } catch (const Error& problem) {
    abandon();
    return problem;
  } catch (...) {
    abandon();
    throw;
  }
  try {
    stream_.adopt(*pending_);
  } catch (const Error& problem) {
    // The stream has refused the model, and is as it was. After anything else there is no way back:
    // stream and notes would tell different things.
    abandon();
    return problem;
  }
  pending_ = nullptr;
  if (notes_ != nullptr) notes_->adopt(std::move(adoption));
  return std::nullopt;
}

void ModelCycle::abandon() {
  pending_ = nullptr;
  if (notes_ != nullptr) notes_->abandon();
}

void ModelCycle::refresh(PairExtent extent) {
  if (!begin(extent)) return;
  if (const auto problem = complete()) throw Error(*problem);
}

}  // namespace phsic
