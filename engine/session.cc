#include "engine/session.h"

#include "engine/count_stream.h"
#include "engine/kernel_stream.h"

namespace phsic {

std::unique_ptr<Session> Session::open(const StreamSpec& spec, const EncoderPath& path,
                                       std::size_t threads) {
  if (spec.counts) return std::make_unique<CountStream>(spec);
  return std::make_unique<KernelStream>(spec, path, threads);
}

}  // namespace phsic
