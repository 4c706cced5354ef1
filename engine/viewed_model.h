// A model of a stream with several views: a model of each, and how much each counts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/blend.h"
#include "core/calibration.h"
#include "core/model.h"
#include "engine/batch.h"

namespace phsic {

// Immutable.
struct ViewedModel {
  std::vector<std::string> names;  // ascending
  std::vector<std::shared_ptr<const PublishedModel>> parts;
  Blend blend;
  Calibration calibration;  // of the blended score
  ModelFacts facts;         // likewise; its dependence is that of the view that counts most
  // Why the model of each view could not be built anew; empty where it was. Nobody knows after it
  // was kept: then there are none.
  std::vector<std::string> problems;
  // The views that do not count and yet can be asked, the best by its self-AUC first: they score
  // what no view that counts finds anything in.
  std::vector<std::size_t> others;

  // REQUIRES: all else is there.
  void find_others();
  // Whether any view counts. If none does, every score is 0.
  [[nodiscard]] bool has_say() const { return blend.has_say(); }
  // Whether this view ranks candidates: it counts, or none counts. Then each shows which candidates
  // can be read.
  [[nodiscard]] bool asks(std::size_t view) const;
};

}  // namespace phsic
