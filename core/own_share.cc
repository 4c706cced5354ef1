#include "core/own_share.h"

#include <algorithm>
#include <cmath>

namespace phsic {

double without_own_part(EstimatorKind kind, bool is_centered, double c, double score,
                        const OwnPart& own) {
  const double s = std::min(own.share, kMaxOwnShare);
  const double x = own.squared_x;
  const double y = own.squared_y;
  const double others = 1 - s;
  const double t = s / others;
  const auto left = [t](double squared) { return 1 - std::min(t * squared, kMaxLeverage); };
  switch (kind) {
    case EstimatorKind::kPhsic:
      return is_centered ? (score - t * x * y) / (others * others * others)
                         : (score - s * x * y) / others;
    case EstimatorKind::kWhitened: return (score - t * x * y) / (others * left(x) * left(y));
    case EstimatorKind::kGaussianPmi: break;
  }
  // Never shorter than a side of it, whatever rounding says.
  const double q = std::max(2 * (c - score) + x + y, std::max(x, y));
  const double lengths = q / left(q) - x / left(x) - y / left(y);
  return c - 0.5 * std::log(left(q) / (left(x) * left(y))) - 0.5 * lengths / others;
}

}  // namespace phsic
