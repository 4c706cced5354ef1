#include "daemon/serving/pipeline.h"

#include <utility>

#include "daemon/serving/count_pipeline.h"
#include "daemon/serving/lane_parts.h"
#include "daemon/serving/model_pipeline.h"

namespace phsic {

std::unique_ptr<Pipeline> Pipeline::start(LaneParts& parts, Recovery recovery) {
  if (parts.stream->counter() != nullptr) {
    return std::make_unique<CountPipeline>(parts, std::move(recovery));
  }
  return std::make_unique<ModelPipeline>(parts, std::move(recovery));
}

}  // namespace phsic
