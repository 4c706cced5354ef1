// Makes the entries of a stream's journal, in order: gathers pairs, takes the notes of its models,
// and gives each entry its place.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/model_cycle.h"
#include "state/entry.h"

namespace phsic {

class JournalWriter : public ModelCycle::Notes {
 public:
  // Takes an entry over: its number, its pairs and its bytes.
  using Sink = std::function<void(const EntryPlace& place, std::uint64_t pairs, std::string bytes)>;

  // Goes on after `last`.
  JournalWriter(const EntryPlace& last, Sink sink) : last_(last), sink_(std::move(sink)) {}

  // Notes a pair that was learned.
  void add(std::string_view x, std::string_view y, double time, const IdHash& id,
           const DecisionCode& decision = {});
  void add(std::span<const float> x, std::span<const float> y, double time, const IdHash& id,
           const DecisionCode& decision = {});
  // Notes a pair that was not learned.
  void reject(const DecisionCode& decision);
  // Notes the cut of the model in use.
  void cut(std::string note);
  void freeze(PairExtent extent) override;
  void adopt(std::string adoption) override;
  void abandon() override;
  void refresh_every(std::uint64_t pairs) override;
  // Copies an entry, at the next place.
  void put(Entry entry);
  // Hands the gathered pairs over as an entry.
  void flush();
  // From now on entries carry this number of the stream.
  void set_stream(std::uint32_t stream) { last_.stream = stream; }

  // The place of the last entry handed over, with the pairs up to it.
  [[nodiscard]] const EntryPlace& last() const { return last_; }

 private:
  [[nodiscard]] EntryPlace next() const;
  void hand_over(std::uint64_t pairs, std::string bytes);

  EntryPlace last_;
  Sink sink_;
  EntryPairs gathered_;
};

}  // namespace phsic
