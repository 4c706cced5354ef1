#include "daemon/serving/count_pipeline.h"

#include <utility>

#include "daemon/serving/lane_parts.h"

namespace phsic {

CountPipeline::CountPipeline(LaneParts& parts, Recovery recovery)
    : parts_(parts),
      tasks_(parts.journal.get(), parts.completion),
      snapshots_(*parts.stream, parts.journal.get(), parts.background, parts.drift, parts.counters,
                 parts.completion, parts.reporter, [this] { parts_.queue.wake(); }),
      stage_(*parts.stream, std::move(recovery.serving.ids), parts.journal.get(), parts.queue,
             parts.unlearned, snapshots_, tasks_, parts.counters, parts.drift, parts.completion,
             parts.sources) {
  if (parts_.journal != nullptr) {
    parts_.journal->set_waker([this] { parts_.queue.wake(); });
  }
  const Amount most{parts_.settings.batch_pairs, kBatchBytes};
  thread_ = std::thread([this, most] {
    stage_.run(most);
    parts_.background.close();
  });
}

CountPipeline::~CountPipeline() {
  thread_.join();
  // Whoever wrote the last snapshot may still be about to wake the learner.
  parts_.background.join();
  if (parts_.journal != nullptr) parts_.journal->set_waker({});
}

}  // namespace phsic
