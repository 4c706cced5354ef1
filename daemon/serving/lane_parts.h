// What the stages of a lane share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "daemon/config.h"
#include "daemon/serving/background.h"
#include "daemon/serving/backlog.h"
#include "daemon/serving/completion.h"
#include "daemon/serving/decide_stage.h"
#include "daemon/serving/decision_keeper.h"
#include "daemon/serving/drift_watch.h"
#include "daemon/serving/dropped_pairs.h"
#include "daemon/serving/fair_queue.h"
#include "daemon/serving/lane_counters.h"
#include "daemon/serving/published_plan.h"
#include "daemon/serving/reporter.h"
#include "daemon/serving/waiting_sources.h"
#include "engine/stream.h"
#include "state/recovery.h"
#include "state/stream_journal.h"

namespace phsic {

// JSON of what was said of decisions about a stream.
[[nodiscard]] std::string decide_options_json(const StreamSettings& settings);

struct LaneParts {
  LaneParts(const StreamSettings& initial_settings, std::unique_ptr<Stream> opened_stream,
            const Recovery& recovery, std::unique_ptr<StreamJournal> opened_journal,
            LaneListener& listener);

  StreamSettings settings;  // the loop's
  std::unique_ptr<Stream> stream;
  std::unique_ptr<StreamJournal> journal;  // null: nothing is kept
  LaneCounters counters;
  Reporter reporter;
  WaitingSources sources;
  FairQueue queue;
  Backlog unlearned;  // of those who teach: pairs until they are learned, bytes until the answer
  PublishedPlan plan;
  DecisionKeeper decisions;  // the learner's
  DecideStage decide;
  DroppedPairs dropped;
  Completion completion;
  DriftWatch drift;
  Background background;
  const std::uint64_t recovered;  // pairs
  const std::uint64_t lost;
};

}  // namespace phsic
