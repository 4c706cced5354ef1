// How strongly x and y depend on each other in the whole stream.
#pragma once

#include <optional>

#include "core/archive.h"
#include "core/moments.h"

namespace phsic {

struct Dependence {
  double hsic = 0;            // |C_xy|_F^2
  std::optional<double> cka;  // |C_xy|_F^2 / |C_xx|_F |C_yy|_F; none without variance or cross only
  // Of so large an HSIC if x and y were independent: the gamma approximation of Gretton et al.
  // (2007) with the corrections that few pairs need. None below 6 effective pairs, without
  // variance, or cross only.
  std::optional<double> p_value;

  void save(Writer& writer) const;
  [[nodiscard]] static Dependence load(Reader& reader);
};

[[nodiscard]] Dependence measure_dependence(const Covariance& covariance);

}  // namespace phsic
