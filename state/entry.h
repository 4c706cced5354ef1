// An entry of the journal: something that changed what a stream has learned, in the order in which
// it happened. docs/state.md has the layout.
//
// Applying all entries in order to an empty stream, or those after a snapshot to the snapshot,
// gives the stream that wrote them, bit for bit (recovery.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/stream_config.h"
#include "engine/decision_replay.h"
#include "state/seen_ids.h"

namespace phsic {

enum class EntryKind : std::uint8_t {
  kTexts,    // pairs
  kVectors,  // pairs
  kFreeze,   // a model is begun
  kAdopt,    // ... comes into use
  kAbandon,  // ... could not be built
  kEvery,    // `refresh` has changed
  kCut,      // the cut of the model in use was chosen
};

// Where an entry stands.
struct EntryPlace {
  std::uint32_t stream = 0;
  std::uint64_t number = 0;  // of the entry, from 1
  std::uint64_t pairs = 0;   // in all entries before it

  bool operator==(const EntryPlace&) const = default;
};

// Pairs for the journal, gathered one by one into reused memory.
class EntryPairs {
 public:
  void add(std::string_view x, std::string_view y, double time, const IdHash& id,
           const DecisionCode& decision = {});
  void add(std::span<const float> x, std::span<const float> y, double time, const IdHash& id,
           const DecisionCode& decision = {});
  // A pair that was not learned, after those that were.
  void reject(const DecisionCode& decision);
  // May the next pair go into the same entry? Texts and vectors do not mix, and none gets too
  // large.
  [[nodiscard]] bool takes(bool vectors) const;

  // Pairs that were learned.
  [[nodiscard]] std::size_t size() const { return times_.size(); }
  // No pair at all, learned or not.
  [[nodiscard]] bool is_empty() const { return times_.empty() && rejected_.empty(); }
  [[nodiscard]] bool are_vectors() const { return are_vectors_; }
  [[nodiscard]] std::span<const double> times() const { return times_; }
  [[nodiscard]] std::span<const IdHash> ids() const { return ids_; }
  // What was decided about each pair that was learned.
  [[nodiscard]] std::span<const DecisionCode> decisions() const { return decisions_; }
  // A pair that was not learned, after the first `place` of those that were.
  struct Rejected {
    std::uint64_t place = 0;
    DecisionCode decision;
    bool operator==(const Rejected&) const = default;
  };
  [[nodiscard]] std::span<const Rejected> rejected() const { return rejected_; }
  // REQUIRES: not are_vectors(). Valid until the next change.
  [[nodiscard]] std::string_view x(std::size_t i) const;
  [[nodiscard]] std::string_view y(std::size_t i) const;
  // REQUIRES: are_vectors(). Row by row.
  [[nodiscard]] const std::vector<float>& x_values() const { return x_values_; }
  [[nodiscard]] const std::vector<float>& y_values() const { return y_values_; }
  [[nodiscard]] std::uint32_t x_dim() const { return x_dim_; }
  [[nodiscard]] std::uint32_t y_dim() const { return y_dim_; }

  void clear();
  void save(Writer& writer) const;
  [[nodiscard]] static EntryPairs load(Reader& reader, bool vectors);

 private:
  [[nodiscard]] std::string_view text(std::size_t k) const;
  void load_texts(Reader& reader);
  void save_decisions(Writer& writer) const;
  void load_decisions(Reader& reader);

  bool are_vectors_ = false;
  std::vector<double> times_;
  std::vector<IdHash> ids_;  // kNoId where there is none
  std::string bytes_;        // x and y of each pair
  std::vector<std::uint64_t> ends_;
  std::uint32_t x_dim_ = 0;
  std::uint32_t y_dim_ = 0;
  std::vector<float> x_values_;
  std::vector<float> y_values_;
  std::vector<DecisionCode> decisions_;
  std::vector<Rejected> rejected_;  // ascending by place
};

// One entry, read back.
struct Entry {
  EntryPlace place;
  EntryKind kind = EntryKind::kTexts;
  EntryPairs pairs;                                  // kTexts, kVectors
  PairExtent extent = PairExtent::kWithoutHeldBack;  // kFreeze
  std::string adoption;                              // kAdopt: from Refresh::adoption()
  std::uint64_t every = 0;                           // kEvery
  std::string cut;                                   // kCut: what DecisionReplay::cut() takes

  static constexpr std::string_view kArchiveKind = "ENTR";
  void save(Writer& writer) const;
  [[nodiscard]] static Entry load(Reader& reader);
};

// The entry that is to stand there. Throws an Error if it is another one, or damaged.
[[nodiscard]] Entry parse_entry(std::span<const char> bytes, const EntryPlace& place);

// Sealed bytes of an entry of pairs, without copying them first.
[[nodiscard]] std::string seal_pairs(const EntryPlace& place, const EntryPairs& pairs);

}  // namespace phsic
