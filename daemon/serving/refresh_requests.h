// Requests for a model that wait until the one on its way is built: one model answers all of a
// kind. For one thread.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "daemon/serving/job.h"
#include "engine/stream.h"

namespace phsic {

class RefreshRequests {
 public:
  using Jobs = std::vector<std::shared_ptr<Job>>;

  struct Group {
    Stream::Extent extent = Stream::Extent::kWithoutHeldBack;
    Jobs jobs;
  };

  void add(const std::shared_ptr<Job>& job) {
    (job->all ? whole_ : partial_).push_back(job);
    newest_is_whole_ = job->all;
  }
  [[nodiscard]] bool is_empty() const { return whole_.empty() && partial_.empty(); }

  // All of one kind. What was asked for last comes last, so that its model stays in use. REQUIRES:
  // not empty.
  [[nodiscard]] Group take() {
    const bool whole = partial_.empty() || (!newest_is_whole_ && !whole_.empty());
    return {whole ? Stream::Extent::kAll : Stream::Extent::kWithoutHeldBack,
            std::exchange(whole ? whole_ : partial_, {})};
  }

 private:
  Jobs partial_;
  Jobs whole_;
  bool newest_is_whole_ = false;
};

}  // namespace phsic
