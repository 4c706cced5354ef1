// Repeats in a replica what another stream did, by what was noted of it.
#pragma once

#include <cstdint>
#include <string>

#include "engine/model_cycle.h"
#include "engine/stream.h"

namespace phsic::test {

class ReplicaNotes : public ModelCycle::Notes {
 public:
  explicit ReplicaNotes(phsic::Stream& replica) : replica_(replica) {}
  void freeze(PairExtent extent) override { replica_.freeze_again(extent); }
  void adopt(std::string adoption) override { replica_.adopt_again(adoption); }
  void abandon() override {}
  void refresh_every(std::uint64_t pairs) override { replica_.refresh_every(pairs); }

 private:
  phsic::Stream& replica_;
};

}  // namespace phsic::test
