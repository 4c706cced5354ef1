// Requests for a model that wait until the one on its way is built: one model answers all of a
// kind. For one thread.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/stream_config.h"
#include "daemon/serving/task.h"

namespace phsic {

class RefreshRequests {
 public:
  using Tasks = std::vector<std::shared_ptr<Task>>;

  struct Group {
    PairExtent extent = PairExtent::kWithoutHeldBack;
    Tasks tasks;
  };

  void add(const std::shared_ptr<Task>& task) {
    newest_is_whole_ = task->request.all;
    (newest_is_whole_ ? whole_ : partial_).push_back(task);
  }
  [[nodiscard]] bool is_empty() const { return whole_.empty() && partial_.empty(); }

  // All of one kind. What was asked for last comes last, so that its model stays in use. REQUIRES:
  // not empty.
  [[nodiscard]] Group take() {
    const bool whole = partial_.empty() || (!newest_is_whole_ && !whole_.empty());
    return {whole ? PairExtent::kAll : PairExtent::kWithoutHeldBack,
            std::exchange(whole ? whole_ : partial_, {})};
  }

 private:
  Tasks partial_;
  Tasks whole_;
  bool newest_is_whole_ = false;
};

}  // namespace phsic
