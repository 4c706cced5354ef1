#include "daemon/serving/lane_parts.h"

namespace phsic {

LaneParts::LaneParts(const StreamSettings& as, std::unique_ptr<Stream> of, const Recovery& recovery,
                     std::unique_ptr<StreamJournal> kept_by, const Lane& lane,
                     LaneListener& listener)
    : settings(as),
      stream(std::move(of)),
      journal(std::move(kept_by)),
      reporter(lane, listener),
      queue({as.queue_pairs, as.queue_bytes}, as.learn_share),
      unlearned({as.learn_queue_pairs, as.learn_queue_bytes}),
      decide(as.flag_p_value, counters),
      completion(*stream, unlearned, counters, reporter, sources),
      drift(recovery.serving, counters, reporter),
      background([this] { reporter.tell_closed(); }),
      recovered(stream->pairs()),
      lost(recovery.lost) {
  counters.restore(recovery.serving.counters);
  counters.refreshes += recovery.models;
  counters.learned = stream->pairs();
  counters.clipped = stream->clipped();
  counters.until_refresh = stream->until_refresh();
}

}  // namespace phsic
