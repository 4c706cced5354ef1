// What the coordinates of a pair say about it, beyond its score: how well x and y agree, as wholes
// and half by half.
//
// With f the score that the model's weights give to any u and v, and g their cosine in the
// directions that x and y share, scaled by the square root of the correlation rho:
//
//   of the whole      f; f less what v, or u, alone is worth: log p(v|u), log p(u|v) but for a
//                     constant; the f expected given u, or v, alone; g; how much of u, and of v,
//                     lies in shared directions
//   of the halves     f and g of x with each half of y and of each half of x with y, and of all
//                     halves with each other: a pair that was cut or spliced has a half that finds
//                     no partner, a scrambled one has halves that find the wrong one
//
// A pair that the model has learned agrees with itself too well. Its own share can be taken out
// (own_share.h has the letters). With z' = z + t d for the coordinates z of any part and d of the
// whole, the others' covariance gives exactly, where own_share.h is exact,
//
//   f = c' - 1/2 (Q' - X' - Y'),   X'(z) = (1 - s) (|z'|^2 + t (z'.d)^2 / (1 - t X)),   likewise Q'
//
// and so do the expectations. The others' directions are not searched for: g and the weights are
// those of coordinates that the others' covariance makes white, in the directions of all.
//
// Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/estimator.h"

namespace phsic {

// A component of a pair: a number that tells good pairs from damaged ones.
struct ComponentRow {
  std::string_view name;
  std::string_view about;  // what it sees, in words
};

inline constexpr std::size_t kWholeComponents = 8;
inline constexpr std::size_t kHalvesComponents = 18;

// Those of the whole, then those of the halves: kWholeComponents + kHalvesComponents rows.
[[nodiscard]] std::span<const ComponentRow> agreement_table();

// The coordinates of one side: of the whole, of the first half and of the second one.
using SideCoordinates = std::array<const float*, 3>;

class Agreement {
 public:
  explicit Agreement(const Estimator<float>& estimator);

  // Writes kWholeComponents and, if `with_halves`, kHalvesComponents values. REQUIRES: coordinates
  // as the estimator gives them, rank() of each; without halves only the wholes are read.
  // `scratch` is memory that is kept from pair to pair. `own_share`, not negative, is the share of
  // the whole pair in what the model has learned, which is taken out, save under phsic.
  void components(const SideCoordinates& u, const SideCoordinates& v, bool with_halves, double* out,
                  std::vector<float>& scratch, double own_share = 0) const;

 private:
  struct Side;
  struct OwnSide;
  struct Values;

  [[nodiscard]] Side centre(const SideCoordinates& of, const std::vector<float>& mean,
                            std::size_t parts, float* storage) const;
  [[nodiscard]] Values values(const Side& x, const Side& y, std::size_t parts) const;
  // The same without the share of the whole pair. `storage` has room for 4 x kParts x rank().
  [[nodiscard]] Values values_of_others(const Side& x, const Side& y, std::size_t parts,
                                        double share, float* storage) const;
  [[nodiscard]] OwnSide take_out(const Side& side, std::size_t parts, double share,
                                 float* storage) const;

  std::vector<float> mean_u_;
  std::vector<float> mean_v_;
  std::vector<float> w_;    // f = c + sum w u v - q (u^2 + v^2) / 2
  std::vector<float> q_;    // all 0 where the estimator has none
  std::vector<float> rho_;  // 0 to 1
  std::vector<float> ones_;
  EstimatorKind kind_;
  double c_;
  double sum_rho_squared_ = 0;
};

}  // namespace phsic
