#include <catch2/catch.hpp>

#include "core/refresh.h"
#include "daemon/serving/score_stage.h"
#include "tests/core/streams.h"

namespace phsic::test {
namespace {

std::uint64_t cost_of(const Kernel& kernel, std::uint32_t pivots, std::size_t rank) {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 8}, kernel, pivots};
  config.y = {{ItemKind::kDense, 6}, kernel, pivots};
  Learner<float> learner(config);
  const auto stream = make_stream<float>({.dim_x = 8, .dim_y = 6, .pairs = 200}, 1);
  learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
  EstimatorSpec spec;
  spec.kind = rank == 0 ? EstimatorKind::kPhsic : EstimatorKind::kWhitened;
  spec.ridge = 1;
  spec.rank = rank;
  return refresh(learner, spec, Learner<float>::Extent::kAll).model->multiply_adds();
}

TEST_CASE("What a score costs is counted from pivots, dimensions and rank") {
  CHECK(cost_of(Kernel::cosine(), 0, 4) == (8 + 8 * 4) + (6 + 6 * 4));
  // phsic has C_xy as its projection.
  CHECK(cost_of(Kernel::cosine(), 0, 0) == (8 + 8 * 6) + (6 + 6));
  CHECK(cost_of(Kernel::gaussian(2), 16, 4) == (16 * (16 + 8) + 16 * 4) + (16 * (16 + 6) + 16 * 4));
  CHECK(PublishedModel().multiply_adds() == 0);
}

TEST_CASE("The loop's thread scores a few vectors under cheap models only") {
  // 300 dimensions at rank 300; 128 pivots of 300 dimensions at rank 128.
  CHECK(is_quick(4, 2 * (300 + 300 * 300)));
  CHECK(is_quick(4, 2 * (128 * (128 + 300) + 128 * 128)));
  CHECK(is_quick(1, 0));
  CHECK_FALSE(is_quick(5, 0));
  // 2048 pivots, be it for one pair.
  CHECK_FALSE(is_quick(1, 2 * (2048 * (2048 + 300) + 2048 * 256)));
  CHECK(is_quick(1, 1U << 20U));
  CHECK_FALSE(is_quick(4, 1U << 20U));
}

}  // namespace
}  // namespace phsic::test
