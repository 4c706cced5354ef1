#include "engine/stream.h"

#include <fmt/format.h>

#include "core/blas.h"
#include "core/model.h"
#include "engine/count_stream.h"
#include "engine/judged_stream.h"
#include "engine/kernel_stream.h"
#include "engine/view_stream.h"
#include "engine/viewed_model.h"

namespace phsic {

const Calibration& PublishedModel::calibration() const {
  static const Calibration kUnknown;
  if (viewed != nullptr) return viewed->calibration;
  return model == nullptr ? kUnknown : model->calibration();
}

std::uint64_t PublishedModel::multiply_adds() const {
  if (viewed == nullptr) return model == nullptr ? 0 : model->multiply_adds();
  std::uint64_t sum = 0;
  for (const auto& part : viewed->parts) sum += part->multiply_adds();
  return sum;
}

const ModelFacts* PublishedModel::facts() const {
  if (viewed != nullptr) return &viewed->facts;
  return model == nullptr ? nullptr : &model->facts();
}

std::uint64_t PublishedModel::epoch() const { return facts() == nullptr ? 0 : facts()->epoch; }

std::optional<std::uint64_t> PublishedModel::model_pairs() const {
  return facts() == nullptr ? std::nullopt : std::optional(facts()->pairs);
}

std::string PublishedModel::estimator() const {
  if (viewed == nullptr && model == nullptr) return "pmi";
  if (viewed == nullptr) {
    return model->estimator() == nullptr ? "" : std::string(name_of(model->estimator()->kind()));
  }
  std::string names;
  for (std::size_t v = 0; v < viewed->parts.size(); ++v) {
    if (viewed->blend.parts()[v].weight == 0) continue;
    names += fmt::format("{}{} by {}", names.empty() ? "" : " + ", viewed->names[v],
                         viewed->parts[v]->estimator());
  }
  return names;
}

LearnBatch items_to_learn(const Batch& batch, std::size_t first, std::size_t count) {
  LearnBatch items;
  if (batch.views.empty()) {
    items.x = slice(batch.x.view(), first, count);
    items.y = slice(batch.y.view(), first, count);
    return items;
  }
  for (const auto& view : batch.views) {
    items.views.push_back({slice(view.x.view(), first, count), slice(view.y.view(), first, count)});
  }
  items.readable = batch.readable.data() + first;
  return items;
}

std::unique_ptr<Stream> Stream::open(const StreamSpec& spec, const EncoderPath& path) {
  spec.validate();
  blas::require_thread_safe();
  if (spec.counts) return std::make_unique<CountStream>(spec);
  if (spec.views.size() == 1) return open(spec.of_view(0), path);
  if (!spec.views.empty())
    return std::make_unique<JudgedStream>(std::make_unique<ViewStream>(spec, path), spec);
  return std::make_unique<JudgedStream>(std::make_unique<KernelStream>(spec, path), spec);
}

}  // namespace phsic
