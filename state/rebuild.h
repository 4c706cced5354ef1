// Learning a stream again, from its journal or from elsewhere, into a new state file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/encoder_library.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"
#include "state/journal_writer.h"
#include "state/portable.h"
#include "state/snapshot.h"
#include "state/state_file.h"
#include "state/stored_options.h"

namespace phsic {

class Rebuild {
 public:
  struct Options {
    std::string to;      // the new file, which must not exist
    std::string stream;  // the name of the stream
    StoredOptions options;
    bool keeps_journal = false;     // the new file gets a journal, from the first pair on
    DecisionsOf decisions_of = {};  // empty: decisions are not remembered
  };
  // Makes the new file under another name; finish() gives it its own. Throws an Error, also when
  // the encoders do not open.
  Rebuild(const Options& options, const EncoderPath& path);
  // Removes the new file, unless finish() was called.
  ~Rebuild();
  Rebuild(const Rebuild&) = delete;
  Rebuild& operator=(const Rebuild&) = delete;
  Rebuild(Rebuild&&) = delete;
  Rebuild& operator=(Rebuild&&) = delete;

  // Learns the journal of a stream, which must be whole. If the stream has kept its identity, every
  // entry is applied again. Otherwise the pairs are learned in order, with a model whenever one is
  // due.
  void learn_journal(const StateFile& file, const StreamRecord& record);
  // Learns pairs from elsewhere, with times or without.
  void learn(const TextPairs& pairs, std::vector<PairProblem>& problems);

  // Writes the snapshot. Throws an Error if nothing was learned.
  void finish();

  [[nodiscard]] const Stream& stream() const { return *stream_; }
  // True if every entry of a journal was applied again.
  [[nodiscard]] bool was_replayed() const { return was_replayed_; }
  // The number of pairs that could not be learned with the new options.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  void create(const Options& options);
  void remove() const noexcept;
  void replay(const StateFile& file, const StreamRecord& record);
  void learn(const EntryPairs& pairs);
  // Learns the usable pairs of the batch. Texts of vectors are empty.
  void learn_batch(std::span<const double> times, std::span<const IdHash> ids, bool are_vectors);
  void learn_run(std::size_t first, std::size_t last, std::span<const double> times,
                 std::span<const IdHash> ids, bool are_vectors);
  void note(std::size_t row, double time, const IdHash& id, bool is_vector);
  void note_rejected(const EntryPairs& pairs);
  // Completes the model on its way, if any. A model that cannot be built is given up, as in a
  // daemon: the next one may do better.
  void complete(ModelCycle& cycle);
  [[nodiscard]] ModelCycle::Notes* notes() { return journal_ ? &*journal_ : nullptr; }

  std::string to_;
  std::string made_;  // the new file's name until finish()
  std::string name_;
  std::unique_ptr<Stream> stream_;
  ServingState serving_;
  std::unique_ptr<DecisionReplay> decisions_;  // null: none are remembered
  std::unique_ptr<StateFile> file_;
  std::uint32_t id_ = 0;
  std::optional<JournalWriter> journal_;
  bool was_replayed_ = false;
  std::uint64_t left_out_ = 0;

  Batch batch_;
  std::vector<std::string_view> x_;
  std::vector<std::string_view> y_;
  std::vector<double> no_times_;
  std::vector<IdHash> no_ids_;
  std::span<const DecisionCode> decided_;  // about the pairs of the batch; empty: nothing
};

}  // namespace phsic
