// A scene whose stream has a journal in a file, through a real state writer. Starts threads.
#pragma once

#include <future>
#include <string>
#include <vector>

#include "daemon/serving/background.h"
#include "daemon/serving/decision_keeper.h"
#include "daemon/serving/drift_watch.h"
#include "state/state_file.h"
#include "state/stream_journal.h"
#include "tests/daemon/stage_scene.h"
#include "tests/state/failing_disk.h"
#include "tests/state/recorder.h"

namespace phsic::test {

struct KeptScene : StageScene {
  explicit KeptScene(const StreamJournal::Options& options = {})
      : journal(writer, "chat", "identity", "{}", options, Recovery(kIds)) {}

  static constexpr std::size_t kIds = 10'000;

  StateFolder folder;
  FailingDisk disk;
  StateLock lock{folder.path("state.db")};
  // All entries stay in the file, also those that snapshots cover.
  StateWriter writer{
      lock, folder.path("state.db"), {{}, {3, true}}, [](bool, const std::string&) {}};
  StreamJournal journal;
  Background background{[] {}};
  DriftWatch drift{ServingState(kIds), counters, reporter};
  DecisionKeeper decisions{stream, &journal, {}, open_plan(), "{}", plan};

  // A task that waits for the learner. Everything else of it is done.
  [[nodiscard]] std::shared_ptr<Task> waiting(Request request) {
    const bool learns = request.learns;
    const auto rows = request.pairs.size();
    auto made = task(std::move(request), true);
    completion.scored(whole(made));
    if (learns) completion.sequenced(made, rows);
    return made;
  }
  [[nodiscard]] std::shared_ptr<Task> order(Operation operation) {
    return waiting(request_of(operation, {}));
  }

  // Waits until everything noted down is on the disk or lost. Returns what is wrong.
  [[nodiscard]] std::string settle() {
    std::promise<std::string> told;
    journal.when_kept([&](const std::string& problem) { told.set_value(problem); });
    return told.get_future().get();
  }
  // Everything in the journal's file.
  [[nodiscard]] std::vector<Entry> entries() const {
    const StateFile file(folder.path("state.db"), Database::Access::kRead);
    std::vector<Entry> found;
    file.read_journal(file.find("chat")->id, 0, false,
                      [&](std::uint64_t, std::uint64_t, std::span<const char> bytes) {
                        found.push_back(parse<Entry>(bytes));
                        return true;
                      });
    return found;
  }
};

}  // namespace phsic::test
