// How many pairs were scored without which view of the stream, to tell at the end.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "engine/batch.h"

namespace phsic {

class LeftOutTally {
 public:
  void add(const std::vector<LeftOut>& left_out);
  // A line for standard error for each view that was left out; empty: none was.
  [[nodiscard]] std::string describe() const;

 private:
  struct Pairs {
    std::size_t count = 0;
    std::string why;  // the first
  };
  std::map<std::string, Pairs> views_;
};

}  // namespace phsic
