#include "daemon/serving/count_pipeline.h"

#include <utility>

#include "daemon/serving/lane_parts.h"

namespace phsic {

CountPipeline::CountPipeline(LaneParts& parts, Recovery recovery)
    : parts_(parts),
      tasks_(parts.journal.get(), parts.completion),
      snapshots_(*parts.stream, parts.journal.get(), parts.background, parts.drift, parts.counters,
                 parts.decisions, parts.completion, parts.reporter,
                 [this] { parts_.queue.wake(); }),
      answers_(parts.settings.batch_pairs, parts.completion),
      stage_(parts, std::move(recovery.serving.ids), snapshots_, tasks_, answers_) {
  if (parts_.journal != nullptr) {
    parts_.journal->set_waker([this] { parts_.queue.wake(); });
  }
  const Amount most{parts_.settings.batch_pairs, kBatchBytes};
  try {
    thread_ = std::thread([this, most] {
      stage_.run(most);
      parts_.background.close();
    });
  } catch (...) {
    join();
    throw;
  }
}

void CountPipeline::update(const StreamSettings& /*settings*/) { parts_.queue.wake(); }

CountPipeline::~CountPipeline() { join(); }

void CountPipeline::join() {
  if (thread_.joinable()) thread_.join();
  parts_.background.close();
  // Whoever wrote the last snapshot may still be about to wake the learner.
  parts_.background.join();
  if (parts_.journal != nullptr) parts_.journal->set_waker({});
}

}  // namespace phsic
