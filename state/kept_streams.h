// The streams that the state writer writes, and how far each is in the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "state/state_file.h"
#include "state/state_lock.h"

namespace phsic {

// A stream as the state writer knows it.
class KeptStream {
 public:
  KeptStream(std::string name, std::string identity, std::string options,
             std::function<void()> ask_for_snapshot);

  // -- Any thread --

  // The stream's number in the file; 0 before the file has it.
  [[nodiscard]] std::uint32_t id() const { return id_; }
  // True while entries are written; false after some were lost, until a snapshot makes up for them.
  [[nodiscard]] bool is_in_step() const { return in_step_; }

  // The last number of each of its topics that the file knew before it had the stream from here.
  // REQUIRES: the stream is open.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& feed() const { return feed_; }

  // -- The state writer's thread --

  [[nodiscard]] const std::string& name() const { return name_; }
  // When the file got the stream.
  [[nodiscard]] double created() const { return created_; }
  // Puts the stream into the file, with kReserved further numbers for each of its topics.
  void write_to(StateFile& file);
  // Gives the file back what it had of the stream before the first write_to().
  void withdraw_from(StateFile& file) const;

  // An entry that ends at `mark` was handed in.
  void note_entry(const StateMark& mark);
  // The end of the last entry that was handed in, written or not.
  [[nodiscard]] const StateMark& handed_in() const { return handed_in_; }
  // Entries handed in so far may be missing in the file: the stream is out of step.
  void fall_behind();
  // The file has a snapshot of all up to `mark`. The stream is in step again, unless the snapshot
  // was begun before the trouble and does not hold every lost entry.
  void catch_up(const StateMark& mark);

 private:
  friend class KeptStreams;

  const std::string name_;
  const std::string identity_;
  const std::string options_;
  std::atomic<std::uint32_t> id_{0};
  std::atomic<bool> in_step_{true};
  std::atomic<bool> forgotten_{false};
  std::function<void()> ask_for_snapshot_;  // guarded by KeptStreams::asking_

  // The state writer's thread's own.
  std::optional<StreamRecord> before_;         // what the file had before the first write_to()
  std::map<std::string, std::uint64_t> feed_;  // its topics that the file knew then
  double created_ = 0;
  StateMark handed_in_;
  std::uint64_t lost_ = 0;  // entries up to this one may be missing in the file
};

// All streams that were ever opened. Any thread, but for what says otherwise.
class KeptStreams {
 public:
  // The result lives as long as this.
  KeptStream& add(const std::string& name, const std::string& identity, const std::string& options,
                  std::function<void()> ask_for_snapshot);
  // The last one of that name. REQUIRES: there is one.
  [[nodiscard]] KeptStream& last_of(const std::string& name);
  // From now on the stream is asked for nothing, and a failure does not concern it.
  void forget(KeptStream& stream);
  // The streams that were not forgotten.
  [[nodiscard]] std::vector<KeptStream*> known();
  [[nodiscard]] bool are_in_step();
  // Asks every stream that is out of step for a snapshot. The state writer's thread.
  void ask_for_snapshots();

 private:
  std::mutex mutex_;  // guards streams_
  std::deque<KeptStream> streams_;
  std::mutex asking_;  // held while a stream is asked for a snapshot
};

}  // namespace phsic
