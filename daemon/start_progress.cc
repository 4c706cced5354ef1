#include "daemon/start_progress.h"

#include <fmt/format.h>

#include <utility>

#include "state/recovery.h"

namespace phsic {

std::string StartProgress::Step::to_string() const {
  auto text = stream.empty() ? doing : fmt::format("{} stream {}", doing, stream);
  if (of > 0) text += fmt::format(", {} of {} pairs", pairs, of);
  return text;
}

void StartProgress::begin(std::string doing, std::string stream) {
  const std::lock_guard lock(mutex_);
  if (is_cancelled_) throw Interrupted();
  step_ = {std::move(doing), std::move(stream), 0, 0, step_.steps + 1};
}

void StartProgress::note(std::uint64_t pairs, std::uint64_t of) {
  const std::lock_guard lock(mutex_);
  if (is_cancelled_) throw Interrupted();
  step_.pairs = pairs;
  step_.of = of;
  ++step_.steps;
}

void StartProgress::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
}

StartProgress::Step StartProgress::step() const {
  const std::lock_guard lock(mutex_);
  return step_;
}

}  // namespace phsic
