// Ends the scoring of tasks in a thread of its own: feed messages and answers are written there, so
// that a stream that counts, whose pairs all go through one thread, does not wait for them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/serving/completion.h"
#include "daemon/serving/task.h"

namespace phsic {

class AnswerStage {
 public:
  // Starts the thread. Up to `most` slices come at once.
  AnswerStage(std::size_t most, Completion& completion);
  // Ends the thread when everything is told.
  ~AnswerStage();
  AnswerStage(const AnswerStage&) = delete;
  AnswerStage& operator=(const AnswerStage&) = delete;
  AnswerStage(AnswerStage&&) = delete;
  AnswerStage& operator=(AnswerStage&&) = delete;

  // Takes slices that are scored and decided about, and leaves none, but memory for as many. Waits
  // until the slices before them are told, which bounds how much waits here. One thread.
  void hand_over(std::vector<Slice>& slices);
  // Waits until everything is told. The thread that hands over.
  void finish();

 private:
  void run();

  Completion& completion_;
  std::mutex mutex_;  // guards the two below
  std::condition_variable changed_;
  std::vector<Slice> slices_;
  bool is_closed_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace phsic
