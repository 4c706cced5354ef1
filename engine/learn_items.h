// The items of pairs that wait to be learned: copies of rows of batches, for every view of a
// stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/items.h"
#include "engine/batch.h"

namespace phsic {

class LearnItems {
 public:
  // Adds row `row` of what a stream has encoded. False, and nothing is added, if its items are of
  // no use. REQUIRES: all batches are of one stream.
  [[nodiscard]] bool add(const Batch& batch, std::size_t row);
  // Rows first .. first + count, without times and texts. Valid until the next change.
  [[nodiscard]] LearnBatch view(std::size_t first, std::size_t count) const;
  void clear();
  // Memory that it has, used or not.
  [[nodiscard]] std::size_t byte_count() const;

 private:
  struct Side {
    ItemBlock<float> x;
    ItemBlock<float> y;
  };
  void take_shapes(const Batch& batch);

  std::vector<Side> views_;             // one if the stream has one view
  std::vector<std::uint8_t> readable_;  // by which views; empty if there is one
};

}  // namespace phsic
