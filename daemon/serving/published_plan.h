// What pairs are decided by at present: the plan, and the languages of the stream's sides. Any
// thread.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "decide/decide_spec.h"
#include "decide/language_profile.h"

namespace phsic {

class PublishedPlan {
 public:
  explicit PublishedPlan(const DecidePlan& plan)
      : plan_(std::make_shared<const DecidePlan>(plan)),
        profile_(std::make_shared<const LanguageProfile>()) {}

  void set(std::shared_ptr<const DecidePlan> plan) {
    const std::lock_guard lock(mutex_);
    plan_ = std::move(plan);
  }
  void set(std::shared_ptr<const LanguageProfile> profile) {
    const std::lock_guard lock(mutex_);
    profile_ = std::move(profile);
  }

  // Never null, and never change.
  [[nodiscard]] std::shared_ptr<const DecidePlan> plan() const {
    const std::lock_guard lock(mutex_);
    return plan_;
  }
  [[nodiscard]] std::shared_ptr<const LanguageProfile> profile() const {
    const std::lock_guard lock(mutex_);
    return profile_;
  }

 private:
  mutable std::mutex mutex_;  // guards the two below
  std::shared_ptr<const DecidePlan> plan_;
  std::shared_ptr<const LanguageProfile> profile_;
};

}  // namespace phsic
