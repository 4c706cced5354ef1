#include "core/stream_config.h"

#include <fmt/format.h>

#include <cmath>

namespace phsic {
namespace {

constexpr std::uint32_t kMostPivots = 8192;
constexpr std::uint32_t kFewestReserved = 16;
constexpr std::uint32_t kMostReserved = 1U << 20;
constexpr std::uint32_t kMostBuckets = 1024;

template <class S>
void require_between(std::string_view what, S found, S low, S high) {
  if (!(found >= low && found <= high)) {
    throw Error(fmt::format("{}: found {}, expected {} to {}", what, found, low, high));
  }
}

void validate_side(std::string_view name, const SideConfig& side) {
  if (side.items.kind != ItemKind::kText) {
    require_between<std::uint32_t>(fmt::format("{} dimension", name), side.items.dim, 1,
                                   kMaxDimension);
  }
  side.kernel.require_fits(side.items);
  require_between<std::uint32_t>(fmt::format("{} pivots", name), side.pivots, 0, kMostPivots);
}

void save_side(Writer& writer, const SideConfig& side) {
  side.items.save(writer);
  side.kernel.save(writer);
  writer.number(side.pivots);
}

SideConfig load_side(Reader& reader) {
  SideConfig side;
  side.items = ItemShape::load(reader);
  side.kernel = Kernel::load(reader);
  side.pivots = reader.number<std::uint32_t>("pivots");
  return side;
}

}  // namespace

void StreamConfig::validate() const {
  validate_side("x", x);
  validate_side("y", y);
  if (forgetting.mode != Forgetting::Mode::kNever) {
    const double least = forgetting.by_seconds() ? 1e-3 : 1;
    require_between("forgetting span", forgetting.span, least, 1e15);
  }
  if (forgetting.is_window()) {
    require_between<std::uint32_t>("window buckets", forgetting.buckets, 1, kMostBuckets);
  }
  require_between("residual threshold", residual_threshold, 0.0, 1.0);
  require_between<std::uint32_t>("reservoir", reservoir, kFewestReserved, kMostReserved);
  require_between<std::uint32_t>("held back", held_back, 0, kMostHeldBack);
}

void StreamConfig::save(Writer& writer) const {
  save_side(writer, x);
  save_side(writer, y);
  writer.number(parts);
  writer.number(forgetting.mode);
  writer.number(forgetting.span);
  writer.number(forgetting.buckets);
  writer.number(pivot_rule);
  writer.number(residual_threshold);
  writer.number(reservoir);
  writer.number(held_back);
  writer.number(seed);
}

StreamConfig StreamConfig::load(Reader& reader) {
  StreamConfig config;
  config.x = load_side(reader);
  config.y = load_side(reader);
  config.parts = reader.enumerator("parts", MomentParts::kCrossOnly);
  config.forgetting.mode = reader.enumerator("forgetting mode", Forgetting::Mode::kWindowSeconds);
  config.forgetting.span = reader.finite("forgetting span");
  config.forgetting.buckets = reader.number<std::uint32_t>("window buckets");
  config.pivot_rule = reader.enumerator("pivot rule", PivotRule::kGreedy);
  config.residual_threshold = reader.finite("residual threshold");
  config.reservoir = reader.number<std::uint32_t>("reservoir size");
  config.held_back = reader.number<std::uint32_t>("held back size");
  config.seed = reader.number<std::uint64_t>("seed");
  config.validate();
  return config;
}

}  // namespace phsic
