#include "daemon/serving/answer_stage.h"

namespace phsic {

AnswerStage::AnswerStage(std::size_t most, Completion& completion) : completion_(completion) {
  slices_.reserve(most);
  thread_ = std::thread([this] { run(); });
}

AnswerStage::~AnswerStage() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AnswerStage::hand_over(std::vector<Slice>& slices) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return slices_.empty(); });
  slices_.swap(slices);
  changed_.notify_all();
}

void AnswerStage::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return slices_.empty(); });
}

void AnswerStage::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_closed_ || !slices_.empty(); });
    if (slices_.empty()) return;
    // Nobody touches the slices before they are gone.
    lock.unlock();
    for (const auto& slice : slices_) completion_.scored(slice);
    lock.lock();
    slices_.clear();
    changed_.notify_all();
  }
}

}  // namespace phsic
