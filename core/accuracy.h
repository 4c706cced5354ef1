// How well matched pairs are told from mismatched ones.
#pragma once

#include <cstdint>

#include "core/archive.h"

namespace phsic {

struct Accuracy {
  double auc = 0;  // a matched pair scores higher than a mismatched one; ties half
  double mrr = 0;  // mean of 1 / rank of the own y among it and the exchanged ones
  double recall_1 = 0;
  double recall_2 = 0;
  double recall_5 = 0;
  std::uint64_t pairs = 0;

  void save(Writer& writer) const;
  [[nodiscard]] static Accuracy load(Reader& reader);
};

}  // namespace phsic
