// The largest singular values and vectors of a matrix.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>

#include "core/blas.h"

namespace phsic {

// The top `rank` triplets of `a`, singular values descending, by randomised subspace iteration
// (Halko, Martinsson and Tropp, 2011, algorithm 4.4) with oversampling; by a full decomposition
// where that costs no more, which includes rank = min(rows, cols). The same seed gives the same
// answer.
[[nodiscard]] blas::Svd truncated_svd(const Eigen::MatrixXd& a, std::size_t rank,
                                      std::uint64_t seed);

}  // namespace phsic
