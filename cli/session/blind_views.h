// Views that found nothing in any pair of a run: most often the words of another language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/batch.h"
#include "engine/stream_facts.h"

namespace phsic {

class BlindViews {
 public:
  // A batch that a stream has encoded.
  void add(const Batch& batch);
  // A line for standard error for each view that has found nothing in any pair, or has no model.
  [[nodiscard]] std::string describe(const std::vector<ViewFacts>& views) const;

 private:
  struct View {
    std::uint64_t seen = 0;  // pairs in which it has found something
    std::string why;         // the first in which it has not
  };
  std::uint64_t pairs_ = 0;
  std::vector<View> views_;
};

}  // namespace phsic
