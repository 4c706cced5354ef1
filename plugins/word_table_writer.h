// Writes the file of a WordTable. Vectors go out as they come, so that memory holds the words only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/word_table.h"

struct XXH3_state_s;  // xxhash's

namespace phsic::plugins {

class WordTableWriter {
 public:
  // Into an empty file, which stays the caller's. All functions throw std::system_error when it
  // cannot be written.
  WordTableWriter(int descriptor, std::uint32_t dimension);

  [[nodiscard]] std::uint64_t size() const { return ends_.size(); }

  // Adds a word, unless there is one of that name already. Throws std::length_error when there are
  // too many.
  void add(std::string_view word, const float* values);

  // Completes the file, which is valid only afterwards. REQUIRES: size() > 0.
  void finish(const ModelStamp& model);

 private:
  [[nodiscard]] std::string_view word(std::size_t i) const;
  // Takes a slot for the next word; false if the word is there already.
  [[nodiscard]] bool take_slot(std::string_view wanted);
  void grow();
  // Writes and hashes.
  void append(const void* data, std::size_t size);
  void flush();

  int descriptor_;
  WordTableHeader header_;
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> hash_;
  std::vector<char> buffer_;  // written when full
  std::uint64_t written_ = 0;
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
  std::vector<WordSlot> slots_;
};

}  // namespace phsic::plugins
