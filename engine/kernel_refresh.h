// What a KernelStream has frozen, on its way to a model. For the engine's own use.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "core/estimator.h"
#include "core/items.h"
#include "core/learner.h"
#include "core/refresh.h"
#include "engine/kernel_stream.h"

namespace phsic {

class KernelStream::Frozen : public Refresh {
 public:
  Frozen(Learner<float> state, const EstimatorSpec& spec, Extent extent,
         std::shared_ptr<Ground> ground);

  void build() override;
  [[nodiscard]] std::string adoption() const override;

  // The held-back pairs, oldest first.
  struct HeldBack {
    ItemBlock<float> x;
    ItemBlock<float> y;
  };
  // From now on build() keeps them.
  void keep_held_back() { keeps_held_back_ = true; }
  [[nodiscard]] std::size_t held_back_count() const { return state_.held_back(); }
  // What follows REQUIRES: built.
  [[nodiscard]] const HeldBack& held_back() const { return held_back_; }
  [[nodiscard]] const Model<float>& model() const { return *refreshed_.model; }
  // The estimator that the held-back pairs have not taught; null when nothing was learned.
  [[nodiscard]] const Estimator<float>* measured() const;

 private:
  friend class KernelStream;

  [[nodiscard]] std::optional<Chosen> chosen() const;

  Learner<float> state_;
  EstimatorSpec spec_;
  Extent extent_;
  std::shared_ptr<Ground> ground_;
  bool keeps_held_back_ = false;
  HeldBack held_back_;
  Refreshed<float> refreshed_;
  double seconds_ = 0;
};

}  // namespace phsic
