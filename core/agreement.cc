#include "core/agreement.h"

#include <algorithm>
#include <cmath>

#include "core/loops.h"
#include "core/own_share.h"

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
    {"cosine, better half of y", "how well the better half of y fits x, by their cosine"},
    {"cosine, worse half of y", "how badly the worse half of y fits x, by their cosine"},
    {"cosine, halves of y differ", "how unlike the halves of y fit x, by their cosine"},
    {"cosine, better half of x", "how well the better half of x fits y, by their cosine"},
    {"cosine, worse half of x", "how badly the worse half of x fits y, by their cosine"},
    {"cosine, halves of x differ", "how unlike the halves of x fit y, by their cosine"},
    {"cosine, partner of y's worse half",
     "whether the worse half of y finds a half of x, by their cosine"},
    {"cosine, partner of x's worse half",
     "whether the worse half of x finds a half of y, by their cosine"},
    {"cosine, order", "whether the halves come in the same order, by their cosine"},
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

double cosine_of(double product, double squared_x, double squared_y) {
  const double lengths = squared_x * squared_y;
  return lengths > 0 ? product / std::sqrt(lengths) : 0;
}

double left_of(double leverage) { return 1 - std::min(leverage, kMaxLeverage); }

// R' of a pair's others: R - t d_x d_y^T between the roots of what they leave of I on both sides.
struct OwnMatrix {
  const loops::SideSums& x;  // of d_x
  const loops::SideSums& y;
  double product;  // d_x R d_y
  double sum_rho_squared;
  double others;  // 1 - s
  double left_x;  // 1 - t X
  double left_y;

  [[nodiscard]] double t() const { return (1 - others) / others; }
  // d_x (R - t d_x d_y^T) d_y.
  [[nodiscard]] double both() const { return product - t() * x.squared * y.squared; }
  // |R d - t |d|^2 e|^2, e being the other side.
  [[nodiscard]] double through(const loops::SideSums& d, const loops::SideSums& e) const {
    const double own = t() * d.squared;
    return d.by_rho_squared - 2 * own * product + own * own * e.squared;
  }
  // |R'^T u|^2 of the x whose coordinates are u, and of y likewise.
  [[nodiscard]] double given_x() const { return given(through(x, y), left_x, left_y); }
  [[nodiscard]] double given_y() const { return given(through(y, x), left_y, left_x); }
  // The sum of the squared correlations.
  [[nodiscard]] double trace() const {
    const double own = t() * t() * x.squared * y.squared;
    return sum_rho_squared - 2 * t() * product + own + t() / left_x * through(x, y) +
           t() / left_y * through(y, x) + t() * t() / (left_x * left_y) * both() * both();
  }

 private:
  [[nodiscard]] double given(double squared, double left, double left_of_other) const {
    return (squared + t() / left_of_other * both() * both()) / (others * left * left);
  }
};

}  // namespace

std::span<const ComponentRow> agreement_table() { return kTable; }

Agreement::Agreement(const Estimator<float>& estimator)
    : mean_u_(estimator.mean_u().begin(), estimator.mean_u().end()),
      mean_v_(estimator.mean_v().begin(), estimator.mean_v().end()),
      w_(estimator.w().begin(), estimator.w().end()),
      q_(w_.size(), 0),
      rho_(w_.size(), 0),
      ones_(w_.size(), 1),
      kind_(estimator.kind()),
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

// The coordinates of the parts of one side, less those of the mean, and their sums.
struct Agreement::Side {
  std::array<const float*, kParts> at{};
  std::array<loops::SideSums, kParts> sums{};
};

// One side without the own share of the whole.
struct Agreement::OwnSide {
  Side moved;                            // z' = z + t d
  Side white;                            // under the others' covariance
  std::array<double, kParts> along{};    // z'.d
  std::array<double, kParts> along_q{};  // sum q z' d
  std::array<double, kParts> squared{};  // X'
  double left = 1;                       // 1 - t X
};

// What components are made of.
struct Agreement::Values {
  struct OfSide {
    double squared = 0;
    double expected = 0;  // f given this side
    double rho_absolute = 0;
  };
  Grid f{};
  Grid g{};
  OfSide x;
  OfSide y;
};

Agreement::Side Agreement::centre(const SideCoordinates& of, const std::vector<float>& mean,
                                  std::size_t parts, float* storage) const {
  const std::size_t rank = w_.size();
  Side side;
  for (std::size_t k = 0; k < parts; ++k) {
    float* const centred = storage + k * rank;
    loops::shift(of[k], mean.data(), nullptr, rank, centred);
    side.at[k] = centred;
    side.sums[k] = loops::side_sums(centred, q_.data(), rho_.data(), rank);
  }
  return side;
}

Agreement::Values Agreement::values(const Side& x, const Side& y, std::size_t parts) const {
  Values values;
  for (std::size_t i = 0; i < parts; ++i) {
    for (std::size_t j = 0; j < parts; ++j) {
      const auto [w, rho] =
          loops::two_products(x.at[i], y.at[j], w_.data(), rho_.data(), w_.size());
      values.f[i][j] = c_ + w - 0.5 * (x.sums[i].by_q + y.sums[j].by_q);
      values.g[i][j] = cosine_of(rho, x.sums[i].by_rho, y.sums[j].by_rho);
    }
  }
  const auto of = [&](const loops::SideSums& side) {
    const double expected = c_ + 0.5 * (side.by_rho_squared - sum_rho_squared_);
    return Values::OfSide{side.squared, expected, side.rho_absolute};
  };
  values.x = of(x.sums[0]);
  values.y = of(y.sums[0]);
  return values;
}

Agreement::OwnSide Agreement::take_out(const Side& side, std::size_t parts, double share,
                                       float* storage) const {
  const std::size_t rank = w_.size();
  const double others = 1 - share;
  const double t = share / others;
  const double whole = side.sums[0].squared;
  OwnSide own;
  own.left = left_of(t * whole);
  // The root of I - t d d^T, inverted, is I + kappa d d^T.
  const double kappa = whole > 0 ? (1 / std::sqrt(own.left) - 1) / whole : 0;
  const auto root = static_cast<float>(std::sqrt(others));
  for (std::size_t k = 0; k < parts; ++k) {
    float* const moved = storage + 2 * k * rank;
    float* const white = moved + rank;
    std::copy_n(side.at[k], rank, moved);
    loops::add_multiple(side.at[0], rank, static_cast<float>(t), moved);
    const auto [along, along_q] =
        loops::two_products(moved, side.at[0], ones_.data(), q_.data(), rank);
    loops::scale(moved, rank, root, white);
    loops::add_multiple(side.at[0], rank, static_cast<float>(kappa * along) * root, white);
    own.along[k] = along;
    own.along_q[k] = along_q;
    own.moved.at[k] = moved;
    own.white.at[k] = white;
    own.moved.sums[k] = loops::side_sums(moved, q_.data(), rho_.data(), rank);
    own.white.sums[k] = loops::side_sums(white, q_.data(), rho_.data(), rank);
    own.squared[k] = others * (own.moved.sums[k].squared + t / own.left * along * along);
  }
  return own;
}

Agreement::Values Agreement::values_of_others(const Side& x, const Side& y, std::size_t parts,
                                              double share, float* storage) const {
  const std::size_t rank = w_.size();
  const double s = std::min(share, kMaxOwnShare);
  const double others = 1 - s;
  const double t = s / others;
  const auto own_x = take_out(x, parts, s, storage);
  const auto own_y = take_out(y, parts, s, storage + 2 * kParts * rank);
  Grid by_w{};
  Grid by_rho{};
  for (std::size_t i = 0; i < parts; ++i) {
    for (std::size_t j = 0; j < parts; ++j) {
      const auto [w, rho] =
          loops::two_products(own_x.moved.at[i], own_y.moved.at[j], w_.data(), rho_.data(), rank);
      by_w[i][j] = w;
      by_rho[i][j] = rho;
    }
  }
  // Moving the whole has made it 1 / others times as long.
  const auto squared = [](const OwnSide& side, std::size_t k) {
    return side.moved.sums[k].squared + side.moved.sums[k].by_q;
  };
  const double whole = others * others * (squared(own_x, 0) + squared(own_y, 0) - 2 * by_w[0][0]);
  const double left = left_of(t * whole);
  const double c = kind_ == EstimatorKind::kWhitened
                       ? c_
                       : c_ - 0.5 * std::log(left / (own_x.left * own_y.left));
  Values values;
  for (std::size_t i = 0; i < parts; ++i) {
    for (std::size_t j = 0; j < parts; ++j) {
      // z'^T R d and so on, each side made white.
      const double more_x = t / own_x.left * own_x.along[i] * others;
      const double more_y = t / own_y.left * own_y.along[j] * others;
      const double shared = by_rho[i][j] + more_x * by_rho[0][j] + more_y * by_rho[i][0] +
                            more_x * more_y * by_rho[0][0];
      const double own = t * own_x.along[i] / own_x.left * own_y.along[j] / own_y.left;
      const double product = others * (shared - own);
      values.g[i][j] = cosine_of(product, own_x.white.sums[i].by_rho, own_y.white.sums[j].by_rho);
      if (kind_ == EstimatorKind::kWhitened) {
        values.f[i][j] = product;
        continue;
      }
      const double both = squared(own_x, i) + squared(own_y, j) - 2 * by_w[i][j];
      const double along = own_x.along[i] + own_x.along_q[i] + own_y.along[j] + own_y.along_q[j] -
                           others * (by_w[i][0] + by_w[0][j]);
      const double in_both = others * (both + t / left * along * along);
      values.f[i][j] = c - 0.5 * (in_both - own_x.squared[i] - own_y.squared[j]);
    }
  }
  const OwnMatrix matrix{x.sums[0],        y.sums[0], others * others * by_rho[0][0],
                         sum_rho_squared_, others,    own_x.left,
                         own_y.left};
  const auto expected = [&](double given) { return c + 0.5 * (given - matrix.trace()); };
  values.x = {own_x.squared[0], expected(matrix.given_x()), own_x.white.sums[0].rho_absolute};
  values.y = {own_y.squared[0], expected(matrix.given_y()), own_y.white.sums[0].rho_absolute};
  return values;
}

void Agreement::components(const SideCoordinates& u, const SideCoordinates& v, bool with_halves,
                           double* out, std::vector<float>& scratch, double own_share) const {
  const std::size_t rank = w_.size();
  const std::size_t parts = with_halves ? kParts : 1;
  const bool is_own = own_share > 0 && kind_ != EstimatorKind::kPhsic;
  scratch.resize((is_own ? 6 : 2) * kParts * rank);
  const auto x = centre(u, mean_u_, parts, scratch.data());
  const auto y = centre(v, mean_v_, parts, scratch.data() + kParts * rank);
  const auto found =
      is_own ? values_of_others(x, y, parts, own_share, scratch.data() + 2 * kParts * rank)
             : values(x, y, parts);
  const double f = found.f[0][0];
  *out++ = f;
  *out++ = f - 0.5 * found.y.squared;
  *out++ = f - 0.5 * found.x.squared;
  *out++ = found.x.expected;
  *out++ = found.y.expected;
  *out++ = found.g[0][0];
  *out++ = found.x.rho_absolute;
  *out++ = found.y.rho_absolute;
  if (!with_halves) return;
  out = write_halves(found.f, out);
  write_halves(found.g, out);
}

}  // namespace phsic
