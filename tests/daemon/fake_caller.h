// A caller that brings tasks and keeps what it is told of them. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "daemon/serving/caller.h"
#include "daemon/serving/task.h"
#include "wire/answer_writer.h"

namespace phsic::test {

class FakeCaller : public Caller {
 public:
  enum class Kind { kClient, kSource };

  explicit FakeCaller(std::string name = "client", Kind kind = Kind::kClient)
      : name_(std::move(name)), kind_(kind) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool is_source() const override { return kind_ == Kind::kSource; }
  void prepare(Task& task) override {
    if (when_prepared) when_prepared(task);
    auto scores = scores_json(task.request, task.outcome);
    const std::lock_guard lock(mutex_);
    auto& told = told_[&task];
    if (told.done > 0) ++late_;
    ++told.prepared;
    told.scores = std::move(scores);
  }
  void done(std::shared_ptr<Task> task) override {
    // A caller that is told of a task may look at all of it.
    const auto rows = task->request.pairs.size();
    const std::lock_guard lock(mutex_);
    auto& told = told_[task.get()];
    ++told.done;
    told.rows_left = rows;
    told.answer = answer_json(task->request, task->outcome, told.scores);
    done_.push_back(std::move(task));
    // Under the lock: who waits for this may destroy the caller as soon as it is free.
    changed_.notify_all();
  }
  void has_room() override {
    const std::lock_guard lock(mutex_);
    ++room_;
    changed_.notify_all();
  }

  // Called first of all in prepare(). May throw.
  std::function<void(Task& task)> when_prepared;

  struct Told {
    std::size_t prepared = 0;
    std::size_t done = 0;
    std::size_t rows_left = 0;  // of the task's pairs when it was done
    std::string scores;
    std::string answer;
  };
  [[nodiscard]] Told told(const Task& task) const {
    const std::lock_guard lock(mutex_);
    const auto found = told_.find(&task);
    return found == told_.end() ? Told() : found->second;
  }
  [[nodiscard]] bool is_done(const Task& task) const { return told(task).done > 0; }
  [[nodiscard]] std::size_t done_count() const {
    const std::lock_guard lock(mutex_);
    return done_.size();
  }
  // Tasks that were prepared after they were done.
  [[nodiscard]] std::size_t late() const {
    const std::lock_guard lock(mutex_);
    return late_;
  }
  // How often this caller was told that there is room.
  [[nodiscard]] std::size_t room() const {
    const std::lock_guard lock(mutex_);
    return room_;
  }
  void wait_for(const Task& task) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      const auto found = told_.find(&task);
      return found != told_.end() && found->second.done > 0;
    });
  }
  // Waits until there was room more often than that.
  void wait_for_room(std::size_t before) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return room_ > before; });
  }

 private:
  const std::string name_;
  const Kind kind_;
  mutable std::mutex mutex_;  // guards everything below
  mutable std::condition_variable changed_;
  std::map<const Task*, Told> told_;
  std::vector<std::shared_ptr<Task>> done_;  // kept, so that no other has its address
  std::size_t late_ = 0;
  std::size_t room_ = 0;
};

// The caller as its tasks have it: it keeps them, so they do not keep it.
[[nodiscard]] inline std::shared_ptr<Caller> lent(const std::shared_ptr<FakeCaller>& caller) {
  return {std::shared_ptr<void>(), caller.get()};
}

}  // namespace phsic::test
