// Choosing a Gaussian kernel's sigma from the data.
#pragma once

#include <cstdint>
#include <vector>

#include "core/items.h"

namespace phsic {

// The weighted median of the Euclidean distances between items: over all pairs of items if they are
// few, else over random pairs drawn by weight. If more than half of all pairs are duplicates, the
// median of the other distances; 1 if there are none.
[[nodiscard]] double median_distance(const Items<double>& items, const std::vector<double>& weights,
                                     std::uint64_t seed);

// 1 / sigma_j for each dimension j, sigma_j = factor n^(-1/5) min(std_j, IQR / 1.349), where std_j
// has n - 1 in the divisor and the IQR is taken over all values of the matrix together; where the
// IQR is 0, sigma_j is from the standard deviation alone. 0 for constant dimensions: they are
// ignored. (The rules of Scott and Silverman, as the published PHSIC implementation has them.)
[[nodiscard]] std::vector<double> inverse_bandwidths(const Items<double>& items, double factor);

}  // namespace phsic
