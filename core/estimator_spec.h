// Which estimator a stream is to have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace phsic {

enum class EstimatorKind : std::uint8_t { kPhsic, kWhitened, kGaussianPmi };

[[nodiscard]] std::string_view name_of(EstimatorKind kind);

inline constexpr std::size_t kDefaultRank = 256;

struct EstimatorSpec {
  // None: `auto`, gaussian-pmi unless another does clearly better on held-back pairs.
  std::optional<EstimatorKind> kind = EstimatorKind::kPhsic;
  // None: the value of kRidgeGrid that does best on held-back pairs, kDefaultRidge while they are
  // too few to tell. Only whitened and gaussian-pmi have a ridge.
  std::optional<double> ridge;
  // Directions kept by whitened and gaussian-pmi; by phsic too, if phsic_at_rank. 0: all.
  std::size_t rank = kDefaultRank;
  bool phsic_at_rank = false;
  bool centered = true;  // phsic only

  bool operator==(const EstimatorSpec&) const = default;
  void validate() const;
};

}  // namespace phsic
