// A stream that has models of its pairs, one for each of its views: what a judge is built on.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/stream.h"
#include "engine/vector_pairs.h"

namespace phsic {

// One view of a stream: who reads its texts.
struct StreamView {
  std::string name;  // empty where there is one
  Encoder x;
  Encoder y;
  bool has_pivots = false;
};

// A built model of one view.
struct BuiltView {
  // Null: the view does not count, or has no model.
  std::shared_ptr<const Model<float>> model;
  // The model as it was before it learned the held-back pairs; `model` if it has not.
  std::shared_ptr<const Model<float>> measured;
};

class ModelStream : public Stream {
 public:
  // In the order of a batch's views.
  [[nodiscard]] virtual std::vector<StreamView> views() const = 0;
  // What a refresh of this stream has built, in the same order. REQUIRES: built.
  [[nodiscard]] virtual std::vector<BuiltView> built(const Refresh& refresh) const = 0;

  // The pairs that are held back now, as vectors; none where several views see them, or texts are
  // compared as they are.
  [[nodiscard]] virtual VectorPairs held_back_vectors() const { return VectorPairs(); }

  // Like score() and rank(), by a model that was in use.
  virtual void score_by(std::shared_ptr<const PublishedModel> published, Batch& batch) const = 0;
  virtual void rank_by(std::shared_ptr<const PublishedModel> published, std::string_view x,
                       std::span<const std::string_view> candidates, Batch& batch) const = 0;
};

}  // namespace phsic
