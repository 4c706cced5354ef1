// Tasks whose pairs have been learned. Those that were promised to be durable wait for the disk.
// For the learner's thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/serving/completion.h"
#include "state/stream_journal.h"

namespace phsic {

class LearnedTasks {
 public:
  // Without a journal nothing is durable.
  LearnedTasks(StreamJournal* journal, Completion& completion)
      : journal_(journal), completion_(completion) {}

  // The learner is done with a task that has waited for it; `error` says what went wrong, if
  // anything.
  void add(const std::shared_ptr<Task>& task, const std::string& error = {});
  // Hands over what was learned so far. Those that wait for it are told when it is on the disk.
  void flush();

 private:
  StreamJournal* journal_;
  Completion& completion_;
  std::vector<std::shared_ptr<Task>> waiting_;
};

}  // namespace phsic
