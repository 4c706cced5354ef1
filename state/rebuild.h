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
  // Makes the new file, in which nothing may be yet, under another name; finish() gives it its own.
  // Throws an Error, also when the encoders do not open.
  struct Options {
    std::string to;
    std::string stream;  // its name
    StoredOptions options;
    bool keeps_journal = false;  // the new file gets one, from the first pair on
  };
  Rebuild(const Options& options, const EncoderPath& path);
  // Without finish() nothing is left behind.
  ~Rebuild();
  Rebuild(const Rebuild&) = delete;
  Rebuild& operator=(const Rebuild&) = delete;
  Rebuild(Rebuild&&) = delete;
  Rebuild& operator=(Rebuild&&) = delete;

  // From the journal of a stream, which must be whole. If the stream is to be as it was in all that
  // its state depends on, everything is done again as it was done then; else pairs are learned in
  // order, with a model whenever one is due.
  void learn_journal(const StateFile& file, const StreamRecord& record);
  // Pairs from elsewhere, with times or none.
  void learn(const TextPairs& pairs, std::vector<PairProblem>& problems);

  // Writes the snapshot. Throws an Error if nothing was learned.
  void finish();

  [[nodiscard]] const Stream& stream() const { return *stream_; }
  // Was it done again as it was done?
  [[nodiscard]] bool was_replayed() const { return was_replayed_; }
  // Pairs that could not be learned with the new configuration.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  void create(const Options& options);
  void remove() const noexcept;
  void replay(const StateFile& file, const StreamRecord& record);
  void learn(const EntryPairs& pairs);
  // Learns what is usable of the batch. Texts of vectors are empty.
  void learn_batch(std::span<const double> times, std::span<const IdHash> ids, bool are_vectors);
  void learn_run(std::size_t first, std::size_t last, std::span<const double> times,
                 std::span<const IdHash> ids, bool are_vectors);
  void note(std::size_t row, double time, const IdHash& id, bool is_vector);
  // Completes the model on its way. One that cannot be built is given up, as a daemon does: the
  // next one may do better.
  static void complete(ModelCycle& cycle);
  [[nodiscard]] ModelCycle::Notes* notes() { return journal_ ? &*journal_ : nullptr; }

  std::string to_;
  std::string made_;  // what becomes it
  std::string name_;
  std::unique_ptr<Stream> stream_;
  ServingState serving_;
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
};

}  // namespace phsic
