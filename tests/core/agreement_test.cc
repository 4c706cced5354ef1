// Components of pairs against their definitions, in double, from the numbers of an estimator.
#include "core/agreement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/estimator.h"
#include "core/random.h"
#include "tests/core/oracle.h"
#include "tests/core/reduced.h"

namespace phsic::test {
namespace {

constexpr Eigen::Index kDimX = 23;
constexpr Eigen::Index kDimY = 19;
constexpr std::size_t kRank = 11;
constexpr std::size_t kAll = kWholeComponents + kHalvesComponents;
constexpr EstimatorKind kKinds[] = {EstimatorKind::kPhsic, EstimatorKind::kWhitened,
                                    EstimatorKind::kGaussianPmi};

// Of pairs that share a few hidden numbers, not centred at 0.
Covariance correlated(std::uint64_t seed) {
  Random random(seed);
  const auto normal = [&] { return random.normal(); };
  const Eigen::MatrixXd hidden = Eigen::MatrixXd::NullaryExpr(400, 8, normal);
  const Eigen::MatrixXd to_x = Eigen::MatrixXd::NullaryExpr(8, kDimX, normal);
  const Eigen::MatrixXd to_y = Eigen::MatrixXd::NullaryExpr(8, kDimY, normal);
  const Eigen::MatrixXd x =
      (hidden * to_x + 2 * Eigen::MatrixXd::NullaryExpr(400, kDimX, normal)).array() + 0.7;
  const Eigen::MatrixXd y =
      (hidden * to_y + 2 * Eigen::MatrixXd::NullaryExpr(400, kDimY, normal)).array() - 0.4;
  return two_pass_covariance(x, y, std::vector<double>(400, 1));
}

Estimator<float> estimator_of(EstimatorKind kind, const Covariance& covariance) {
  if (kind == EstimatorKind::kPhsic) return Estimator<float>::phsic(covariance, kRank, true, 1);
  const auto basis = canonical_basis(covariance, 0.1, kRank, 1);
  return kind == EstimatorKind::kWhitened ? Estimator<float>::whitened(covariance, basis)
                                          : Estimator<float>::gaussian_pmi(covariance, basis);
}

// Coordinates of the whole and of two halves.
struct Side {
  Side(std::size_t rank, Random& random) {
    for (auto& part : parts) {
      for (std::size_t i = 0; i < rank; ++i) part.push_back(static_cast<float>(random.normal()));
    }
  }
  [[nodiscard]] SideCoordinates view(bool with_halves = true) const {
    if (!with_halves) return {parts[0].data(), nullptr, nullptr};
    return {parts[0].data(), parts[1].data(), parts[2].data()};
  }
  std::vector<float> parts[3];
};

// The definitions, part by part.
class Direct {
 public:
  Direct(const Estimator<float>& estimator, std::vector<double> rho)
      : estimator_(estimator), rho_(std::move(rho)) {}

  [[nodiscard]] std::vector<double> all(const Side& x, const Side& y) const {
    const auto u = x.parts;
    const auto v = y.parts;
    const auto f = [&](int i, int j) { return score(u[i], v[j]); };
    const auto g = [&](int i, int j) { return cosine(u[i], v[j]); };
    std::vector<double> out = {
        f(0, 0),
        f(0, 0) - squares(v[0], estimator_.mean_v()) / 2,
        f(0, 0) - squares(u[0], estimator_.mean_u()) / 2,
        expected(u[0], estimator_.mean_u()),
        expected(v[0], estimator_.mean_v()),
        g(0, 0),
        weight(u[0], estimator_.mean_u()),
        weight(v[0], estimator_.mean_v()),
    };
    add_halves(f, out);
    add_halves(g, out);
    return out;
  }

 private:
  template <class F>
  static void add_halves(const F& of, std::vector<double>& out) {
    const bool first_y_is_worse = of(0, 1) < of(0, 2);
    const bool first_x_is_worse = of(1, 0) < of(2, 0);
    const int worse_y = first_y_is_worse ? 1 : 2;
    const int worse_x = first_x_is_worse ? 1 : 2;
    out.push_back(of(0, 3 - worse_y));
    out.push_back(of(0, worse_y));
    out.push_back(of(0, 3 - worse_y) - of(0, worse_y));
    out.push_back(of(3 - worse_x, 0));
    out.push_back(of(worse_x, 0));
    out.push_back(of(3 - worse_x, 0) - of(worse_x, 0));
    out.push_back(std::max(of(1, worse_y), of(2, worse_y)));
    out.push_back(std::max(of(worse_x, 1), of(worse_x, 2)));
    out.push_back(of(1, 1) + of(2, 2) - of(1, 2) - of(2, 1));
  }

  [[nodiscard]] double q(std::size_t i) const {
    return estimator_.q().empty() ? 0 : estimator_.q()[i];
  }
  [[nodiscard]] double score(const std::vector<float>& u, const std::vector<float>& v) const {
    double sum = estimator_.c();
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double a = u[i] - estimator_.mean_u()[i];
      const double b = v[i] - estimator_.mean_v()[i];
      sum += estimator_.w()[i] * a * b - q(i) * (a * a + b * b) / 2;
    }
    return sum;
  }
  [[nodiscard]] double cosine(const std::vector<float>& u, const std::vector<float>& v) const {
    double both = 0;
    double of_u = 0;
    double of_v = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double a = std::sqrt(rho_[i]) * (u[i] - estimator_.mean_u()[i]);
      const double b = std::sqrt(rho_[i]) * (v[i] - estimator_.mean_v()[i]);
      both += a * b;
      of_u += a * a;
      of_v += b * b;
    }
    return of_u * of_v > 0 ? both / (std::sqrt(of_u) * std::sqrt(of_v)) : 0;
  }
  [[nodiscard]] double expected(const std::vector<float>& u,
                                const std::vector<double>& mean) const {
    double sum = estimator_.c();
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double a = u[i] - mean[i];
      sum += rho_[i] * rho_[i] * (a * a - 1) / 2;
    }
    return sum;
  }
  [[nodiscard]] double weight(const std::vector<float>& u, const std::vector<double>& mean) const {
    double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += rho_[i] * std::abs(u[i] - mean[i]);
    return sum;
  }
  [[nodiscard]] static double squares(const std::vector<float>& u,
                                      const std::vector<double>& mean) {
    double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += std::pow(u[i] - mean[i], 2);
    return sum;
  }

  const Estimator<float>& estimator_;
  std::vector<double> rho_;
};

// The correlations, found without the estimator: of phsic, whose weights are singular values, these
// in units of the largest.
std::vector<double> correlations(EstimatorKind kind, const Covariance& covariance,
                                 const Estimator<float>& estimator) {
  if (kind == EstimatorKind::kPhsic) {
    auto rho = estimator.w();
    const double largest = *std::max_element(rho.begin(), rho.end());
    for (auto& one : rho) one /= largest;
    return rho;
  }
  const auto basis = canonical_basis(covariance, 0.1, kRank, 1);
  return {basis.rho.begin(), basis.rho.end()};
}

TEST_CASE("Components are what the coordinates of wholes and halves say", "[oracle]") {
  for (const auto kind : kKinds) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(name_of(kind), seed);
      const auto covariance = correlated(seed);
      const auto estimator = estimator_of(kind, covariance);
      REQUIRE(estimator.rank() == kRank);
      CHECK(estimator.q().empty() == (kind != EstimatorKind::kGaussianPmi));
      const Direct direct(estimator, correlations(kind, covariance, estimator));
      const Agreement agreement(estimator);
      Random random(seed);
      std::vector<float> scratch;
      for (int i = 0; i < reduced(40); ++i) {
        const Side x(kRank, random);
        const Side y(kRank, random);
        const auto expected = direct.all(x, y);
        std::vector<double> found(kAll);
        agreement.components(x.view(), y.view(), true, found.data(), scratch);
        const double scale = 1 + std::abs(expected[0]) + std::abs(expected[1]);
        for (std::size_t k = 0; k < kAll; ++k) {
          CAPTURE(k, agreement_table()[k].name);
          CHECK(found[k] == Approx(expected[k]).margin(2e-5 * scale));
        }
        CHECK(found[0] ==
              Approx(estimator.combine(x.parts[0].data(), y.parts[0].data())).margin(2e-5 * scale));
      }
    }
  }
}

TEST_CASE("Without halves the components of the whole are the same, and no others are written") {
  const auto estimator = estimator_of(EstimatorKind::kGaussianPmi, correlated(1));
  const Agreement agreement(estimator);
  Random random(3);
  const Side x(kRank, random);
  const Side y(kRank, random);
  std::vector<float> scratch;
  std::vector<double> with(kAll, 99);
  std::vector<double> without(kAll, 99);
  agreement.components(x.view(), y.view(), true, with.data(), scratch);
  agreement.components(x.view(false), y.view(false), false, without.data(), scratch);
  for (std::size_t k = 0; k < kAll; ++k) {
    CHECK(without[k] == (k < kWholeComponents ? with[k] : 99));
  }
}

TEST_CASE("What x has to say to any y is the mean score of the y that x foretells", "[oracle]") {
  constexpr std::size_t kExpectedGivenX = 3;
  constexpr std::size_t kExpectedGivenY = 4;
  const auto covariance = correlated(2);
  const auto estimator = estimator_of(EstimatorKind::kGaussianPmi, covariance);
  const auto rho = correlations(EstimatorKind::kGaussianPmi, covariance, estimator);
  const Agreement agreement(estimator);
  const auto& mean_u = estimator.mean_u();
  const auto& mean_v = estimator.mean_v();
  std::vector<float> scratch;
  Random random(4);
  for (int pair = 0; pair < 6; ++pair) {
    const Side x(kRank, random);
    Side y(kRank, random);
    const auto draws = reduced(4000);
    double sum = 0;
    double squares = 0;
    std::vector<double> out(kWholeComponents);
    const bool swaps = pair % 2 == 1;  // given y: the x that it foretells
    const auto& given_mean = swaps ? mean_v : mean_u;
    const auto& other_mean = swaps ? mean_u : mean_v;
    for (int i = 0; i < draws; ++i) {
      for (std::size_t k = 0; k < kRank; ++k) {
        const double given = x.parts[0][k] - given_mean[k];
        const double drawn = rho[k] * given + std::sqrt(1 - rho[k] * rho[k]) * random.normal();
        y.parts[0][k] = static_cast<float>(other_mean[k] + drawn);
      }
      const auto& u = swaps ? y : x;
      const auto& v = swaps ? x : y;
      agreement.components(u.view(false), v.view(false), false, out.data(), scratch);
      sum += out[0];
      squares += out[0] * out[0];
    }
    const double mean = sum / draws;
    const double deviation = std::sqrt(squares / draws - mean * mean);
    CHECK(out[swaps ? kExpectedGivenY : kExpectedGivenX] ==
          Approx(mean).margin(4.5 * deviation / std::sqrt(draws)));
  }
}

TEST_CASE("A side at the mean, and an estimator of no directions, have finite components") {
  const auto estimator = estimator_of(EstimatorKind::kWhitened, correlated(3));
  Random random(5);
  Side x(kRank, random);
  const Side y(kRank, random);
  for (std::size_t i = 0; i < kRank; ++i) {
    x.parts[0][i] = static_cast<float>(estimator.mean_u()[i]);
  }
  x.parts[1] = x.parts[0];
  std::vector<float> scratch;
  std::vector<double> out(kAll);
  Agreement(estimator).components(x.view(), y.view(), true, out.data(), scratch);
  for (const double value : out) CHECK(std::isfinite(value));
  CHECK(out[5] == Approx(0).margin(1));

  Covariance nothing = correlated(3);
  nothing.xy.setZero();
  nothing.xx.setZero();
  const auto basis = canonical_basis(nothing, 0.1, kRank, 1);
  const auto empty = Estimator<float>::gaussian_pmi(nothing, basis);
  REQUIRE(empty.rank() == 0);
  Agreement(empty).components(x.view(), y.view(), true, out.data(), scratch);
  for (const double value : out) CHECK(value == 0);
}

TEST_CASE("Every component has a name of its own and a meaning") {
  std::set<std::string> names;
  for (const auto& [name, about] : agreement_table()) {
    CHECK(names.insert(std::string(name)).second);
    CHECK_FALSE(about.empty());
  }
  CHECK(names.size() == kAll);
}

// Pairs that share a few hidden numbers, and texts of which some pair was cut out: as features.
struct Learned {
  static constexpr Eigen::Index kPairs = 80;
  static constexpr Eigen::Index kDim = 7;  // on both sides, so that coordinates span them

  explicit Learned(std::uint64_t seed) : random(seed) {
    const auto normal = [&] { return random.normal(); };
    const Eigen::MatrixXd hidden = Eigen::MatrixXd::NullaryExpr(kPairs, kDim, normal);
    const auto side = [&] {
      const Eigen::MatrixXd map = Eigen::MatrixXd::NullaryExpr(kDim, kDim, normal);
      return Eigen::MatrixXd(
          (hidden * map + Eigen::MatrixXd::NullaryExpr(kPairs, kDim, normal)).array() + 0.5);
    };
    x = side();
    y = side();
  }
  // Of all pairs, or of all but the first.
  [[nodiscard]] Estimator<float> estimator(EstimatorKind kind, bool has_first) const {
    std::vector<double> weights(kPairs, 1);
    if (!has_first) weights[0] = 0;
    const auto covariance = two_pass_covariance(x, y, weights);
    const auto basis = canonical_basis(covariance, 1e-9, kDim, 1);
    return kind == EstimatorKind::kWhitened ? Estimator<float>::whitened(covariance, basis)
                                            : Estimator<float>::gaussian_pmi(covariance, basis);
  }

  Random random;
  Eigen::MatrixXd x;
  Eigen::MatrixXd y;
};

// Components of the first pair, and of two halves of each side that are like it.
std::vector<double> components_of_first(Learned& learned, const Estimator<float>& estimator,
                                        double own_share) {
  Random random(9);
  std::vector<float> u;
  std::vector<float> v;
  const auto project = [&](const Eigen::MatrixXd& of, bool is_x, std::vector<float>& out) {
    std::vector<float> rows;
    for (int part = 0; part < 3; ++part) {
      for (Eigen::Index k = 0; k < Learned::kDim; ++k) {
        rows.push_back(static_cast<float>(of(0, k) + (part == 0 ? 0 : random.normal())));
      }
    }
    out.resize(rows.size());
    const DenseRows<float> items{rows.data(), 3, Learned::kDim};
    static_cast<void>(is_x ? estimator.project_x(items, out.data())
                           : estimator.project_y(items, out.data()));
  };
  project(learned.x, true, u);
  project(learned.y, false, v);
  std::vector<double> found(kAll);
  std::vector<float> scratch;
  const auto parts = [](const std::vector<float>& of) {
    return SideCoordinates{of.data(), of.data() + Learned::kDim, of.data() + 2 * Learned::kDim};
  };
  Agreement(estimator).components(parts(u), parts(v), true, found.data(), scratch, own_share);
  return found;
}

TEST_CASE("Without its own share a learned pair has the components that the others give it",
          "[oracle]") {
  const auto is_exact = [](EstimatorKind kind, std::size_t k) {
    constexpr std::size_t kHalvesOfF = kHalvesComponents / 2;
    const bool is_f = k < 5 || (k >= kWholeComponents && k < kWholeComponents + kHalvesOfF);
    return is_f && (kind == EstimatorKind::kGaussianPmi || kind == EstimatorKind::kWhitened);
  };
  for (const auto kind : {EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
    std::vector<double> errors(kAll, 0);
    std::vector<double> uncorrected(kAll, 0);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Learned learned(seed);
      const auto all = learned.estimator(kind, true);
      const auto expected = components_of_first(learned, learned.estimator(kind, false), 0);
      const auto found = components_of_first(learned, all, 1.0 / Learned::kPairs);
      const auto plain = components_of_first(learned, all, 0);
      for (std::size_t k = 0; k < kAll; ++k) {
        CAPTURE(name_of(kind), seed, k, agreement_table()[k].name);
        if (is_exact(kind, k)) CHECK(found[k] == Approx(expected[k]).epsilon(2e-3).margin(2e-3));
        errors[k] += std::abs(found[k] - expected[k]);
        uncorrected[k] += std::abs(plain[k] - expected[k]);
      }
    }
    for (std::size_t k = 0; k < kAll; ++k) {
      CAPTURE(name_of(kind), k, agreement_table()[k].name, errors[k], uncorrected[k]);
      CHECK(errors[k] < (is_exact(kind, k) ? 0.1 : 0.75) * uncorrected[k]);
    }
  }
}

TEST_CASE("A share that cannot be leaves components finite") {
  Learned learned(1);
  for (const auto kind : {EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
    const auto estimator = learned.estimator(kind, true);
    for (const double share : {0.3, 0.5, 1.0, 7.0}) {
      for (const double value : components_of_first(learned, estimator, share)) {
        CHECK(std::isfinite(value));
      }
    }
  }
}

}  // namespace
}  // namespace phsic::test
