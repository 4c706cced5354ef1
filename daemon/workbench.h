// What a thread that scores works with, kept from batch to batch.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/fair_queue.h"
#include "engine/batch.h"

namespace phsic {

struct Workbench {
  FairQueue::Taken taken;
  Batch batch;
  Batch vectors;
  std::vector<Slice> texts_of;    // slices whose rows are in `batch`, in order
  std::vector<Slice> vectors_of;  // the same for `vectors`
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
  std::vector<float> x_values;
  std::vector<float> y_values;
  std::vector<double> times;

  void clear() {
    texts_of.clear();
    vectors_of.clear();
    x.clear();
    y.clear();
    x_values.clear();
    y_values.clear();
  }
};

}  // namespace phsic
