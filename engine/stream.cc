#include "engine/stream.h"

#include "core/model.h"
#include "engine/count_stream.h"
#include "engine/kernel_stream.h"

namespace phsic {

const Calibration& PublishedModel::calibration() const {
  static const Calibration kUnknown;
  return model == nullptr ? kUnknown : model->calibration();
}

std::uint64_t PublishedModel::multiply_adds() const {
  return model == nullptr ? 0 : model->multiply_adds();
}

std::uint64_t PublishedModel::epoch() const { return model == nullptr ? 0 : model->facts().epoch; }

std::optional<std::uint64_t> PublishedModel::model_pairs() const {
  return model == nullptr ? std::nullopt : std::optional(model->facts().pairs);
}

std::unique_ptr<Stream> Stream::open(const StreamSpec& spec, const EncoderPath& path) {
  if (spec.counts) return std::make_unique<CountStream>(spec);
  return std::make_unique<KernelStream>(spec, path);
}

}  // namespace phsic
