// Writes the journal of a stream that is learned anew, each entry at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "state/entry.h"
#include "state/state_file.h"

namespace phsic {

class JournalWriter {
 public:
  // The file must outlive it. REQUIRES: the stream has no journal there.
  JournalWriter(StateFile& file, std::uint32_t stream) : file_(file), last_{stream, 0, 0} {}

  // A pair that was learned.
  void add(std::string_view x, std::string_view y, double time, const IdHash& id);
  void add(std::span<const float> x, std::span<const float> y, double time, const IdHash& id);
  // Anything else that happened, or an entry as it is; its place becomes the next one.
  void put(Entry entry);
  // Writes what was gathered.
  void flush();

  // The place of the last entry written, with the pairs up to it.
  [[nodiscard]] const EntryPlace& last() const { return last_; }

 private:
  [[nodiscard]] EntryPlace next() const;
  void write(std::uint64_t pairs, const std::string& bytes);

  StateFile& file_;
  EntryPlace last_;
  EntryPairs gathered_;
};

}  // namespace phsic
