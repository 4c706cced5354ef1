// What a ViewStream has frozen, on its way to a model: first each view's model, then how much each
// counts, then what the blended score means. For the engine's own use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/blend.h"
#include "core/feature_block.h"
#include "core/measure.h"
#include "engine/kernel_refresh.h"
#include "engine/sightings.h"
#include "engine/view_stream.h"
#include "engine/viewed_model.h"

namespace phsic {

class ViewStream::Frozen : public Refresh {
 public:
  Frozen(const ViewStream& stream, Extent extent);

  void build() override;
  [[nodiscard]] std::string adoption() const override;

 private:
  friend class ViewStream;

  struct Part {
    std::unique_ptr<KernelStream::Frozen> frozen;
    std::string problem;  // why its model could not be built, if so
    // Features of the pairs that it holds back, if it has a model of them.
    FeatureBlock<float> x;
    FeatureBlock<float> y;

    [[nodiscard]] bool is_measured() const {
      return problem.empty() && frozen->measured() != nullptr;
    }
    void build();
  };

  [[nodiscard]] bool finds_anything(std::size_t view, std::size_t row) const;
  [[nodiscard]] std::vector<Trial> run_trials(const Sightings::HeldBack& found, std::size_t first,
                                              std::size_t step, TrialPlan plan) const;
  void choose(const Sightings::HeldBack& found);
  void measure(const Sightings::HeldBack& found);
  void sum_up();

  std::vector<std::string> names_;
  Sightings sightings_;
  // The newest blend that was chosen with enough pairs: what counted where nobody could tell has no
  // claim to stay.
  std::optional<Blend> chosen_;
  std::uint64_t pairs_;
  Extent extent_;
  std::vector<Part> parts_;  // one for each view
  ViewedModel model_;
  double seconds_ = 0;
};

}  // namespace phsic
