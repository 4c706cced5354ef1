// Recovery: from a snapshot and the journal after it to the stream that wrote them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

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

// What came of it. A stream that the file does not know is as empty as before.
struct Recovery {
  std::uint32_t stream = 0;  // its number in the file; 0: it has none yet
  EntryPlace last;           // of the last entry of the journal, applied or not
  ServingState serving;
  std::unique_ptr<Refresh> pending;  // a model that was begun, and neither adopted nor abandoned
  std::uint64_t from_snapshot = 0;   // pairs
  std::string program;               // that wrote the snapshot
  std::uint64_t replayed = 0;        // pairs
  std::uint64_t models = 0;          // that came into use in what was replayed
  std::uint64_t replayed_bytes = 0;  // of the journal
  std::uint64_t lost = 0;            // pairs that could not be read
  std::vector<std::string> damage;   // what was found damaged; empty: nothing

  explicit Recovery(std::size_t id_window) : serving(id_window) {}
};

// Told how many pairs of the journal have been learned again, of how many; of none while the
// journal is only read. Called often. It may throw an Interrupted, which ends the recovery.
using RecoveryWatcher = std::function<void(std::uint64_t pairs, std::uint64_t of)>;
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the daemon is about to end"; }
};

// Throws an IdentityError if the state of a stream, as far as it has learned anything, is of
// another one.
void require_identity(const StateFile& file, const StreamRecord& record,
                      const StreamStorage& stream, const StateMarks& marks);

// Brings back what the file has of `name` into a stream that has learned nothing. Damage is told,
// and all that comes before it is used; so is a journal that ends before its mark. Throws an
// IdentityError if the stream is another one than the state was learned with, an Error if nothing
// can be recovered where there should be something, or if an entry that is whole cannot be learned:
// the encoder may do better the next time.
[[nodiscard]] Recovery recover(const StateFile& file, const std::string& name, Stream& stream,
                               std::size_t id_window, const StateMarks& marks = {},
                               const RecoveryWatcher& watcher = {});

// Applies the entries of a journal to a stream, one by one.
class Replay {
 public:
  // `last_adopted` is the last entry that brings a model into use: only that model is built.
  // `learned` is called every some pairs with how many there were.
  Replay(Stream& stream, ServingState& serving, std::uint64_t begun, std::uint64_t last_adopted,
         std::function<void(std::uint64_t)> learned = {});

  // Throws an Error when the entry cannot be applied. Of its pairs some may have been learned then.
  void apply(const Entry& entry);

  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }
  [[nodiscard]] std::uint64_t models() const { return models_; }
  [[nodiscard]] std::unique_ptr<Refresh> take_pending() { return cycle_.take_pending(); }

 private:
  void learn(const EntryPairs& pairs);
  void adopt(const Entry& entry);
  void encode(const EntryPairs& pairs, std::size_t first, std::size_t count);

  Stream& stream_;
  ServingState& serving_;
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

// The last model that came into use: where it was begun and where it was adopted; 0: none. Looks no
// further than entries can be read.
struct LastAdoption {
  std::uint64_t begun = 0;
  std::uint64_t adopted = 0;
};
[[nodiscard]] LastAdoption last_adoption(const StateFile& file, std::uint32_t stream);

}  // namespace phsic
