// A stream whose every act is noted down by hand, as a daemon's learner does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "engine/stream.h"
#include "state/entry.h"
#include "state/snapshot.h"
#include "state/state_file.h"
#include "state/stored_options.h"
#include "tests/folder.h"

namespace phsic::test {

// In memory, where that is possible: a state file is synced at every commit.
struct StateFolder : Folder {
  StateFolder();
};

[[nodiscard]] std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::string_view bytes);

// All that a stream has learned, as bytes.
[[nodiscard]] std::string state_of(const Stream& stream);
[[nodiscard]] std::unique_ptr<Stream> open_stream(const StoredOptions& options);

// Pairs in which y says in other words what x says.
struct PairMaker {
  explicit PairMaker(std::uint64_t seed) : random(seed) {}
  Random random;
  [[nodiscard]] std::pair<std::string, std::string> next();
};

// The scores of some pairs that were never learned.
[[nodiscard]] std::vector<double> scores_of(const Stream& stream, std::uint64_t seed = 99);

class Recorder {
 public:
  // An entry of the journal.
  struct Recorded {
    std::uint64_t pairs = 0;
    std::string bytes;
  };

  Recorder(const StoredOptions& options, std::uint64_t seed, std::string name = kName,
           std::uint32_t id = kStream);

  void learn(std::size_t pairs);
  // REQUIRES: dense shapes.
  void learn_vectors(std::size_t pairs);
  void freeze(Stream::Extent extent);
  void adopt();
  void abandon();
  void refresh_every(std::uint64_t pairs);
  // Any of these that can be done now.
  void do_something();
  // A snapshot, if no model is on its way.
  void take_snapshot();

  [[nodiscard]] const Stream& stream() const { return *stream_; }
  [[nodiscard]] const StoredOptions& options() const { return options_; }
  [[nodiscard]] const ServingState& serving() const { return serving_; }
  [[nodiscard]] bool is_building() const { return refresh_ != nullptr; }
  [[nodiscard]] const std::vector<Recorded>& journal() const { return journal_; }
  // By the number of the last entry that each covers.
  struct Snapshot {
    std::uint64_t pairs = 0;
    std::string bytes;
  };
  [[nodiscard]] const std::map<std::uint64_t, Snapshot>& snapshots() const { return snapshots_; }
  [[nodiscard]] std::uint64_t pairs() const { return last_.pairs; }

  // Into a state file: the stream, which must get its id, the snapshot at that entry (0: none) and
  // the journal, from that entry on or all of it.
  void write(StateFile& file, std::uint64_t snapshot, bool whole) const;

  static constexpr std::uint32_t kStream = 1;
  static constexpr const char* kName = "chat";
  static constexpr std::size_t kIdWindow = 50;

 private:
  void append(std::uint64_t pairs, std::string bytes);
  void note(Entry entry);
  void learn(EntryPairs& pairs, Batch& batch);
  [[nodiscard]] double next_time();
  [[nodiscard]] IdHash next_id();

  StoredOptions options_;
  Random random_;
  PairMaker maker_;
  std::unique_ptr<Stream> stream_;
  ServingState serving_{kIdWindow};
  std::unique_ptr<Refresh> refresh_;
  double time_ = 1e9;
  std::string name_;
  EntryPlace last_;
  std::vector<Recorded> journal_;
  std::map<std::uint64_t, Snapshot> snapshots_;
};

}  // namespace phsic::test
