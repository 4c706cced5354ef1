// Recovery: from a snapshot and the journal after it to the stream that wrote them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/decision_replay.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"
#include "state/entry.h"
#include "state/snapshot.h"
#include "state/state_file.h"
#include "state/state_lock.h"

namespace phsic {

// State that was learned with other encoders, kernels or options.
class IdentityError : public Error {
 public:
  using Error::Error;
};

// The outcome of a recovery. A stream that the file does not know is as empty as before.
struct Recovery {
  std::uint32_t stream = 0;  // the stream's number in the file; 0: none yet
  EntryPlace last;           // the place of the journal's last entry, applied or not
  ServingState serving;
  std::unique_ptr<Refresh> pending;  // a model that was begun, and neither adopted nor abandoned
  std::uint64_t from_snapshot = 0;   // pairs in the snapshot
  std::string program;               // the writer of the snapshot
  std::uint64_t replayed = 0;        // pairs learned from the journal
  std::uint64_t models = 0;          // models that came into use meanwhile
  std::uint64_t replayed_bytes = 0;  // bytes of the journal
  std::uint64_t lost = 0;            // pairs that could not be read
  std::vector<std::string> damage;   // a line for each place; empty: none

  explicit Recovery(std::size_t id_window) : serving(id_window) {}
};

// Called often, with the pairs of the journal that have been learned again and all that are to be;
// both are 0 while the journal is only read. May throw an Interrupted, which ends the recovery.
using RecoveryWatcher = std::function<void(std::uint64_t pairs, std::uint64_t of)>;
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the daemon is about to end"; }
};

// Throws an IdentityError if the file has learned state of the stream, and the stream has another
// identity now.
void require_identity(const StateFile& file, const StreamRecord& record,
                      const StreamStorage& stream, const StateMarks& marks);

// Brings the state of `name` back into a stream that has learned nothing. Recovery::damage tells of
// damage, and of a journal that ends before its mark; everything before the damage is used. Throws
// an IdentityError if the state was learned with another identity, an Error if there should be
// state and none can be recovered, or if an entry that is whole cannot be learned: the encoder may
// do better the next time. `decisions` is told of all that was decided, and what it remembers
// afterwards is in serving.parts; null: the parts stay as they are in the snapshot.
[[nodiscard]] Recovery recover(const StateFile& file, const std::string& name, Stream& stream,
                               std::size_t id_window, const StateMarks& marks = {},
                               const RecoveryWatcher& watcher = {},
                               DecisionReplay* decisions = nullptr);

// Applies the entries of a journal to a stream, one by one.
class Replay {
 public:
  // `last_adopted` is the last entry that brings a model into use, `begun` the entry that begins
  // that model: no earlier model is built. `decisions` is told of what was decided, unless it is
  // null. `learned` is called every few hundred pairs with the number of pairs so far.
  Replay(Stream& stream, ServingState& serving, std::uint64_t begun, std::uint64_t last_adopted,
         std::function<void(std::uint64_t)> learned = {}, DecisionReplay* decisions = nullptr);

  // Throws an Error when the entry cannot be applied. Some of its pairs may have been learned then.
  void apply(const Entry& entry);

  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }
  [[nodiscard]] std::uint64_t models() const { return models_; }
  // The model that was begun, and neither adopted nor abandoned; null: none.
  [[nodiscard]] std::unique_ptr<Refresh> take_pending() { return cycle_.take_pending(); }

 private:
  void learn(const EntryPairs& pairs);
  void adopt(const Entry& entry);
  void encode(const EntryPairs& pairs, std::size_t first, std::size_t count);

  Stream& stream_;
  ServingState& serving_;
  DecisionReplay* decisions_;
  const std::uint64_t begun_;
  const std::uint64_t last_adopted_;
  const std::function<void(std::uint64_t)> learned_;
  std::uint64_t pairs_ = 0;
  std::uint64_t models_ = 0;
  ModelCycle cycle_;
  Batch batch_;
  std::vector<std::string_view> x_;
  std::vector<std::string_view> y_;
};

// Tells of what was decided about the pairs of an entry, in order.
void tell_decisions(const EntryPairs& pairs, DecisionReplay& decisions);

// The entries that begin and adopt the last model that came into use; 0: none did. Stops at the
// first entry that cannot be read.
struct LastAdoption {
  std::uint64_t begun = 0;
  std::uint64_t adopted = 0;
};
[[nodiscard]] LastAdoption last_adoption(const StateFile& file, std::uint32_t stream);

}  // namespace phsic
