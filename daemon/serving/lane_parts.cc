#include "daemon/serving/lane_parts.h"

#include "wire/json_text.h"

namespace phsic {

std::string decide_options_json(const StreamSettings& settings) {
  return json_object(decide_options_of(settings.options));
}

LaneParts::LaneParts(const StreamSettings& initial_settings, std::unique_ptr<Stream> opened_stream,
                     const Recovery& recovery, std::unique_ptr<StreamJournal> opened_journal,
                     LaneListener& listener)
    : settings(initial_settings),
      stream(std::move(opened_stream)),
      journal(std::move(opened_journal)),
      reporter(listener),
      queue({settings.queue_pairs, settings.queue_bytes}, settings.learn_share),
      unlearned({settings.learn_queue_pairs, settings.learn_queue_bytes}),
      plan(settings.plan()),
      decisions(*stream, journal.get(), recovery.serving.parts, settings.plan(),
                decide_options_json(settings), plan),
      decide(plan, counters),
      completion(*stream, unlearned, counters, reporter, sources, dropped),
      drift(recovery.serving, counters, reporter),
      background([this] { reporter.tell_closed(); }),
      recovered(stream->pairs()),
      lost(recovery.lost) {
  counters.restore(recovery.serving.counters);
  counters.restore(decisions.memory().counts());
  counters.refreshes += recovery.models;
  counters.learned = stream->pairs();
  counters.clipped = stream->clipped();
  counters.until_refresh = stream->until_refresh();
}

}  // namespace phsic
