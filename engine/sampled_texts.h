// The texts of learned pairs that may be asked for again: those in the sample of a stream, by
// number.
//
// Long texts are cut. Memory is bounded by what is kept: the owner calls keep_only() whenever
// is_crowded(). Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/archive.h"

namespace phsic {

class SampledTexts {
 public:
  static constexpr std::size_t kLongest = 1000;  // bytes of each text

  // REQUIRES: numbers that ascend from call to call.
  void add(std::uint64_t number, std::string_view x, std::string_view y);
  // Valid until the next change.
  [[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> find(
      std::uint64_t number) const;

  // Whether it is time to forget some: when there are twice as many as were kept the last time, so
  // that forgetting costs little for each pair.
  [[nodiscard]] bool is_crowded() const { return entries_.size() > 2 * kept_ + kSlack; }
  // Forgets all texts but those of these numbers. REQUIRES: ascending numbers.
  void keep_only(const std::vector<std::uint64_t>& numbers);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  void save(Writer& writer) const;
  [[nodiscard]] static SampledTexts load(Reader& reader);

 private:
  static constexpr std::size_t kSlack = 1024;

  struct Entry {
    std::uint64_t number;
    std::size_t start;  // of x in bytes_; y follows
    std::uint32_t x_size;
    std::uint32_t y_size;
  };

  std::string bytes_;
  std::vector<Entry> entries_;  // ascending numbers
  std::size_t kept_ = 0;
  std::string spare_bytes_;  // memory for the next keep_only()
  std::vector<Entry> spare_entries_;
};

}  // namespace phsic
