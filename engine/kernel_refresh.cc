#include "engine/kernel_refresh.h"

#include <chrono>
#include <utility>

#include "core/model.h"

namespace phsic {

KernelStream::Frozen::Frozen(Learner<float> state, const EstimatorSpec& spec, Extent extent,
                             std::shared_ptr<Ground> ground)
    : state_(std::move(state)), spec_(spec), extent_(extent), ground_(std::move(ground)) {}

void KernelStream::Frozen::build() {
  const auto began = std::chrono::steady_clock::now();
  if (keeps_held_back_) {
    held_back_.x = state_.held_back_x();
    held_back_.y = state_.held_back_y();
  }
  refreshed_ = refresh(std::move(state_), spec_, extent_);
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

std::optional<KernelStream::Chosen> KernelStream::Frozen::chosen() const {
  const auto& model = *refreshed_.model;
  if (model.estimator() == nullptr) return std::nullopt;
  return Chosen{model.estimator()->kind(), model.facts().ridge};
}

const Estimator<float>* KernelStream::Frozen::measured() const {
  return refreshed_.measured ? &*refreshed_.measured : refreshed_.model->estimator();
}

std::string KernelStream::Frozen::adoption() const {
  Writer writer;
  save_chosen(chosen(), writer);
  writer.number<std::uint8_t>(refreshed_.pivots.has_value());
  if (refreshed_.pivots) refreshed_.pivots->save(writer);
  return writer.bytes();
}

}  // namespace phsic
