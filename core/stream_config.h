// What a stream is: the shape of its items, its kernels, how it forgets, how much it keeps.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/archive.h"
#include "core/items.h"
#include "core/kernel.h"

namespace phsic {

struct Forgetting {
  enum class Mode : std::uint8_t {
    kNever,
    kHalfLifePairs,    // a pair weighs half as much after `span` further pairs
    kHalfLifeSeconds,  // ... after `span` seconds
    kWindowPairs,      // only about the last `span` pairs count
    kWindowSeconds,    // only about the last `span` seconds count
  };
  Mode mode = Mode::kNever;
  double span = 0;
  // A window is a ring of up to this many buckets: the newest pair's and those before it. In pairs,
  // a bucket is a whole number of blocks of 256, and there are no more buckets than blocks in the
  // span; in seconds, a block belongs to the bucket of its last pair.
  std::uint32_t buckets = 8;

  bool operator==(const Forgetting&) const = default;
  [[nodiscard]] bool is_window() const {
    return mode == Mode::kWindowPairs || mode == Mode::kWindowSeconds;
  }
  // In pairs or seconds; infinite for streams without one.
  [[nodiscard]] double half_life() const {
    const bool fades = mode == Mode::kHalfLifePairs || mode == Mode::kHalfLifeSeconds;
    return fades ? span : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] bool by_seconds() const {
    return mode == Mode::kHalfLifeSeconds || mode == Mode::kWindowSeconds;
  }
};

struct SideConfig {
  ItemShape items;
  Kernel kernel = Kernel::cosine();
  // At most this many pivots. 0: explicit features where the kernel has them, kDefaultPivots else.
  std::uint32_t pivots = 0;

  static constexpr std::uint32_t kDefaultPivots = 128;

  bool operator==(const SideConfig&) const = default;
  [[nodiscard]] bool uses_pivots() const { return pivots > 0 || !kernel.is_explicit(); }
  [[nodiscard]] std::uint32_t pivot_count() const { return pivots > 0 ? pivots : kDefaultPivots; }
};

// Which sums of products are kept: C_xy, C_xx and C_yy, or C_xy alone.
enum class MomentParts : std::uint8_t { kAll, kCrossOnly };

enum class PivotRule : std::uint8_t {
  // The next pivot is drawn with probability proportional to weight times residual: randomly
  // pivoted Cholesky (Chen, Epperly, Tropp and Webber, 2023). Near-optimal and not led astray by
  // outliers.
  kRandom,
  // The largest residual, of equal ones the smallest index: the published PHSIC implementation's
  // rule.
  kGreedy,
};

// Which pairs: all but those held back, or all.
enum class PairExtent : std::uint8_t { kWithoutHeldBack, kAll };

inline constexpr std::uint32_t kMostHeldBack = 1U << 16;

struct StreamConfig {
  SideConfig x;
  SideConfig y;
  MomentParts parts = MomentParts::kAll;
  Forgetting forgetting;
  PivotRule pivot_rule = PivotRule::kRandom;
  // New pivots are wanted when the mean residual of recent pairs, as a share of their mean k(x,x),
  // exceeds this and has grown by half since the pivots were chosen.
  double residual_threshold = 0.1;
  std::uint32_t reservoir = 4096;  // pairs kept as a sample
  std::uint32_t held_back = 1024;  // the newest pairs, at most, that are measured before learned
  std::uint64_t seed = 1;

  bool operator==(const StreamConfig&) const = default;

  // Throws an Error that says what was found and what was expected.
  void validate() const;

  void save(Writer& writer) const;
  [[nodiscard]] static StreamConfig load(Reader& reader);
};

}  // namespace phsic
