// Brute force: everything straight from its definition, in double, in O(n^2) or worse. Shares no
// code with what it checks except the views of items.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/items.h"
#include "core/kernel.h"
#include "core/moments.h"

namespace phsic::test {

// k(a_i, b_j), each by its formula.
[[nodiscard]] Eigen::MatrixXd gram(const Kernel& kernel, const ItemBlock<double>& a,
                                   const ItemBlock<double>& b);

// PHSIC(x_t, y_t) for test pairs t, in data space (Yokoi et al., 2018, equation 9):
// sum_i w_i k~(x_t, x_i) l~(y_t, y_i) with weights summing to 1 and k~ centred by the weighted
// means.
[[nodiscard]] std::vector<double> data_space_phsic(const Kernel& kernel_x, const Kernel& kernel_y,
                                                   const ItemBlock<double>& train_x,
                                                   const ItemBlock<double>& train_y,
                                                   const std::vector<double>& weights,
                                                   const ItemBlock<double>& test_x,
                                                   const ItemBlock<double>& test_y);

// HSIC = tr(K H L H) / n^2, H = I - 11^T / n.
[[nodiscard]] double data_space_hsic(const Eigen::MatrixXd& k, const Eigen::MatrixXd& l);

// Means and covariances of weighted rows, in two passes.
[[nodiscard]] Covariance two_pass_covariance(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y,
                                             const std::vector<double>& weights);

// log N(z; m, c) for a positive-definite c.
[[nodiscard]] double log_normal_density(const Eigen::VectorXd& z, const Eigen::VectorXd& m,
                                        const Eigen::MatrixXd& c);

}  // namespace phsic::test
