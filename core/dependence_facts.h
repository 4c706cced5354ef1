// How strongly x and y depend on each other, as a stream tells it. dependence.h measures it; this
// much alone needs no linear algebra.
#pragma once

#include <optional>

#include "core/archive.h"

namespace phsic {

struct Dependence {
  double hsic = 0;            // |C_xy|_F^2
  std::optional<double> cka;  // |C_xy|_F^2 / |C_xx|_F |C_yy|_F; none without variance or cross only
  // How likely an HSIC this large is if x and y are independent. None below 6 effective pairs,
  // without variance, or cross only.
  std::optional<double> p_value;

  void save(Writer& writer) const;
  [[nodiscard]] static Dependence load(Reader& reader);
};

}  // namespace phsic
