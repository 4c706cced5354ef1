#include "core/dependence.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace phsic {
namespace {

constexpr double kFewestPairs = 6;

std::optional<double> gamma_p_value(const Covariance& covariance, double hsic) {
  const double n = covariance.effective_pairs;
  if (!covariance.has_variance() || n < kFewestPairs) return std::nullopt;
  const double trace_x = covariance.xx.trace();
  const double trace_y = covariance.yy.trace();
  const double mean = trace_x * trace_y / (n - 1);
  const double spread_x = covariance.xx.squaredNorm() - trace_x * trace_x / n;
  const double spread_y = covariance.yy.squaredNorm() - trace_y * trace_y / n;
  const double variance = 2 * (n - 4) * (n - 5) / (n * (n - 1) * (n - 2) * (n - 3)) *
                          std::max(spread_x, 0.0) * std::max(spread_y, 0.0);
  if (!(mean > 0) || !(variance > 0)) return std::nullopt;
  // Beyond this shape the distribution is a point at its mean.
  const double shape = std::min(mean * mean / variance, 1e9);
  const double at = hsic * shape / mean;
  // Products of tiny traces may have underflowed.
  if (!(shape > 0) || !std::isfinite(at)) return std::nullopt;
  using namespace boost::math::policies;
  const double p =
      boost::math::gamma_q(shape, at,
                           policy<domain_error<ignore_error>, overflow_error<ignore_error>,
                                  evaluation_error<ignore_error>>());
  return std::isfinite(p) ? std::optional(p) : std::nullopt;
}

void save_optional(Writer& writer, const std::optional<double>& value) {
  writer.number<std::uint8_t>(value.has_value());
  writer.number(value.value_or(0));
}

std::optional<double> load_optional(Reader& reader, const char* field) {
  const bool present = reader.flag(field);
  const double value = reader.finite(field);
  return present ? std::optional(value) : std::nullopt;
}

}  // namespace

Dependence measure_dependence(const Covariance& covariance) {
  Dependence dependence;
  dependence.hsic = covariance.xy.squaredNorm();
  if (covariance.has_variance()) {
    dependence.cka = dependence.hsic / (covariance.xx.norm() * covariance.yy.norm());
  }
  dependence.p_value = gamma_p_value(covariance, dependence.hsic);
  return dependence;
}

void Dependence::save(Writer& writer) const {
  writer.number(hsic);
  save_optional(writer, cka);
  save_optional(writer, p_value);
}

Dependence Dependence::load(Reader& reader) {
  Dependence dependence;
  dependence.hsic = reader.finite("hsic");
  dependence.cka = load_optional(reader, "cka");
  dependence.p_value = load_optional(reader, "hsic p-value");
  return dependence;
}

}  // namespace phsic
