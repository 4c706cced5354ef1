#include "core/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/kernel_columns.h"

namespace phsic {
namespace {

// How many times the usual length is too long: of the features, and of the vector itself. Under a
// linear kernel one vector at the limit weighs as much as 10,000 usual ones; polynomials reach the
// first limit much earlier than the second.
constexpr double kLongestFeatures = 100;
constexpr double kLongestVector = 10;

// A vector longer than usual is one step up, a shorter one a ninth of a step down, so that the two
// balance where a tenth is longer. 256 steps up double the length.
constexpr double kStepsToDouble = 256;
constexpr double kDownSteps = 9;

// No squared length is larger: a vector has at most kMaxDimension values of kMaxMagnitude.
constexpr double kLargest = 1e24;

}  // namespace

void UsualLength::begin(std::vector<double> squared_lengths) {
  std::erase(squared_lengths, 0.0);
  if (squared_lengths.empty()) return;
  // Not the longest one, unless there is no other.
  const auto place = static_cast<std::ptrdiff_t>((squared_lengths.size() - 1) * 9 / 10);
  std::nth_element(squared_lengths.begin(), squared_lengths.begin() + place, squared_lengths.end());
  squared_ = squared_lengths[static_cast<std::size_t>(place)];
}

void UsualLength::follow(double squared_length) {
  static const double kUp = std::exp2(2 / kStepsToDouble);
  static const double kDown = std::exp2(-2 / (kStepsToDouble * kDownSteps));
  if (squared_length > squared_) {
    squared_ *= kUp;
  } else if (squared_length > 0) {
    squared_ *= kDown;
  }
}

void UsualLength::join(const UsualLength& other) { squared_ = std::max(squared_, other.squared_); }

double UsualLength::factor(const Kernel& kernel, double squared_length) const {
  if (squared_length <= kLongestVector * kLongestVector * squared_) return 1;
  const double most = kLongestFeatures * kLongestFeatures * self_kernel(kernel, squared_);
  if (self_kernel(kernel, squared_length) <= most) return 1;
  return std::sqrt(squared_ / squared_length);
}

UsualLength UsualLength::load(Reader& reader) {
  UsualLength usual;
  usual.squared_ = reader.finite("usual length");
  if (usual.squared_ < 0 || usual.squared_ > kLargest) {
    reader.refuse("usual length",
                  fmt::format("found a square of {}, expected 0 to {}", usual.squared_, kLargest));
  }
  return usual;
}

}  // namespace phsic
