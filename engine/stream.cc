#include "engine/stream.h"

#include "engine/count_stream.h"
#include "engine/kernel_stream.h"

namespace phsic {

const Calibration& Release::calibration() const {
  static const Calibration kUnknown;
  return model == nullptr ? kUnknown : model->calibration();
}

std::unique_ptr<Stream> Stream::open(const StreamSpec& spec, const EncoderPath& path) {
  if (spec.counts) return std::make_unique<CountStream>(spec);
  return std::make_unique<KernelStream>(spec, path);
}

}  // namespace phsic
