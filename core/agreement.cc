#include "core/agreement.h"

#include <algorithm>
#include <cmath>

#include "core/loops.h"

namespace phsic {
namespace {

constexpr ComponentRow kTable[] = {
    {"score", "how much x and y have in common"},
    {"y given x", "how well x predicts y"},
    {"x given y", "how well y predicts x"},
    {"expected given x", "how much x has to say to any y"},
    {"expected given y", "how much y has to say to any x"},
    {"cosine", "how alike x and y are where the languages meet"},
    {"weight of x", "how much of x is known to matter"},
    {"weight of y", "how much of y is known to matter"},
    {"better half of y", "how well the better half of y fits x"},
    {"worse half of y", "how badly the worse half of y fits x"},
    {"halves of y differ", "how unlike the halves of y fit x"},
    {"better half of x", "how well the better half of x fits y"},
    {"worse half of x", "how badly the worse half of x fits y"},
    {"halves of x differ", "how unlike the halves of x fit y"},
    {"partner of y's worse half", "whether the worse half of y finds a half of x"},
    {"partner of x's worse half", "whether the worse half of x finds a half of y"},
    {"order", "whether the halves come in the same order"},
    {"cosine, better half of y", "how well the better half of y fits x"},
    {"cosine, worse half of y", "how badly the worse half of y fits x"},
    {"cosine, halves of y differ", "how unlike the halves of y fit x"},
    {"cosine, better half of x", "how well the better half of x fits y"},
    {"cosine, worse half of x", "how badly the worse half of x fits y"},
    {"cosine, halves of x differ", "how unlike the halves of x fit y"},
    {"cosine, partner of y's worse half", "whether the worse half of y finds a half of x"},
    {"cosine, partner of x's worse half", "whether the worse half of x finds a half of y"},
    {"cosine, order", "whether the halves come in the same order"},
};
static_assert(std::size(kTable) == kWholeComponents + kHalvesComponents);

constexpr std::size_t kParts = 3;  // the whole and its halves

// Values of some function of a part of x (row) and a part of y (column).
using Grid = std::array<std::array<double, kParts>, kParts>;

// Nine components of a grid.
double* write_halves(const Grid& of, double* out) {
  const auto of_y = std::minmax(of[0][1], of[0][2]);
  const auto of_x = std::minmax(of[1][0], of[2][0]);
  const std::size_t worse_y = of[0][1] <= of[0][2] ? 1 : 2;
  const std::size_t worse_x = of[1][0] <= of[2][0] ? 1 : 2;
  *out++ = of_y.second;
  *out++ = of_y.first;
  *out++ = of_y.second - of_y.first;
  *out++ = of_x.second;
  *out++ = of_x.first;
  *out++ = of_x.second - of_x.first;
  *out++ = std::max(of[1][worse_y], of[2][worse_y]);
  *out++ = std::max(of[worse_x][1], of[worse_x][2]);
  *out++ = of[1][1] + of[2][2] - of[1][2] - of[2][1];
  return out;
}

}  // namespace

std::span<const ComponentRow> agreement_table() { return kTable; }

Agreement::Agreement(const Estimator<float>& estimator)
    : mean_u_(estimator.mean_u().begin(), estimator.mean_u().end()),
      mean_v_(estimator.mean_v().begin(), estimator.mean_v().end()),
      w_(estimator.w().begin(), estimator.w().end()),
      q_(w_.size(), 0),
      rho_(w_.size(), 0),
      c_(estimator.c()) {
  std::copy(estimator.q().begin(), estimator.q().end(), q_.begin());
  float largest = 0;
  for (const float w : w_) largest = std::max(largest, std::abs(w));
  for (std::size_t i = 0; i < w_.size() && largest > 0; ++i) {
    switch (estimator.kind()) {
      // Singular values are no correlations: their ratios are what there is.
      case EstimatorKind::kPhsic: rho_[i] = std::abs(w_[i]) / largest; break;
      case EstimatorKind::kWhitened: rho_[i] = w_[i]; break;
      case EstimatorKind::kGaussianPmi: rho_[i] = w_[i] > 0 ? q_[i] / w_[i] : 0; break;
    }
    sum_rho_squared_ += static_cast<double>(rho_[i]) * static_cast<double>(rho_[i]);
  }
}

void Agreement::components(const SideCoordinates& u, const SideCoordinates& v, bool with_halves,
                           double* out, std::vector<float>& scratch) const {
  const std::size_t rank = w_.size();
  const std::size_t parts = with_halves ? kParts : 1;
  scratch.resize(2 * kParts * rank);
  std::array<loops::SideSums, kParts> of_x{};
  std::array<loops::SideSums, kParts> of_y{};
  std::array<const float*, kParts> a{};
  std::array<const float*, kParts> b{};
  for (std::size_t k = 0; k < parts; ++k) {
    float* const x = scratch.data() + k * rank;
    float* const y = scratch.data() + (kParts + k) * rank;
    loops::shift(u[k], mean_u_.data(), nullptr, rank, x);
    loops::shift(v[k], mean_v_.data(), nullptr, rank, y);
    of_x[k] = loops::side_sums(x, q_.data(), rho_.data(), rank);
    of_y[k] = loops::side_sums(y, q_.data(), rho_.data(), rank);
    a[k] = x;
    b[k] = y;
  }
  Grid f{};
  Grid g{};
  for (std::size_t i = 0; i < parts; ++i) {
    for (std::size_t j = 0; j < parts; ++j) {
      const auto [w, rho] = loops::two_products(a[i], b[j], w_.data(), rho_.data(), rank);
      f[i][j] = c_ + w - 0.5 * (of_x[i].by_q + of_y[j].by_q);
      const double lengths = of_x[i].by_rho * of_y[j].by_rho;
      g[i][j] = lengths > 0 ? rho / std::sqrt(lengths) : 0;
    }
  }
  const auto expected = [&](const loops::SideSums& side) {
    return c_ + 0.5 * (side.by_rho_squared - sum_rho_squared_);
  };
  *out++ = f[0][0];
  *out++ = f[0][0] - 0.5 * of_y[0].squared;
  *out++ = f[0][0] - 0.5 * of_x[0].squared;
  *out++ = expected(of_x[0]);
  *out++ = expected(of_y[0]);
  *out++ = g[0][0];
  *out++ = of_x[0].rho_absolute;
  *out++ = of_y[0].rho_absolute;
  if (!with_halves) return;
  out = write_halves(f, out);
  write_halves(g, out);
}

}  // namespace phsic
