#include "core/svd.h"

#include <algorithm>

#include "core/random.h"

namespace phsic {
namespace {

// Enough to bring the error of a triplet below that of the statistics it is computed from: the
// spectrum of a noisy covariance decays slowly, so the subspace is made wider than asked.
constexpr int kIterations = 3;
constexpr Eigen::Index kLeastOversampling = 16;

}  // namespace

blas::Svd truncated_svd(const Eigen::MatrixXd& a, std::size_t rank, std::uint64_t seed) {
  const Eigen::Index smaller = std::min(a.rows(), a.cols());
  const auto r = static_cast<Eigen::Index>(std::min(rank, static_cast<std::size_t>(smaller)));
  const Eigen::Index width = r + std::max(kLeastOversampling, r / 8);

  blas::Svd svd;
  if (2 * width >= smaller) {
    svd = blas::thin_svd(a);
  } else {
    Random random(seed);
    Eigen::MatrixXd basis(a.rows(), width);
    for (Eigen::Index j = 0; j < width; ++j) {
      for (Eigen::Index i = 0; i < a.rows(); ++i) basis(i, j) = random.normal();
    }
    Eigen::MatrixXd image;
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      image.noalias() = a.transpose() * basis;
      blas::orthonormalise(image);
      basis.noalias() = a * image;
      blas::orthonormalise(basis);
    }
    image.noalias() = a.transpose() * basis;
    // a is close to basis * image^T, so the factors of image give those of a.
    svd = blas::thin_svd(std::move(image));
    svd.u.swap(svd.v);
    svd.u = basis * svd.u;
  }
  svd.u.conservativeResize(Eigen::NoChange, r);
  svd.v.conservativeResize(Eigen::NoChange, r);
  svd.s.conservativeResize(r);
  return svd;
}

}  // namespace phsic
