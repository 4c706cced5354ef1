#include "cli/client/same_options.h"

#include <catch2/catch.hpp>

#include "core/error.h"

namespace phsic::test {
namespace {

using Catch::Contains;

const RemoteStream kStream{"chat",
                           {{"encoder", "hashing:dim=128"},
                            {"x-encoder", "hashing:dim=64"},
                            {"half-life", "2h"},
                            {"refresh-after", "5s"}},
                           0,
                           0};

void require_same(const OptionList& wanted) { require_same_options(wanted, kStream, "tcp://a:1"); }

TEST_CASE("Options that mean what the stream has are fine, however they are written") {
  CHECK_NOTHROW(require_same({}));
  CHECK_NOTHROW(require_same({{"encoder", "hashing:dim=128"}}));
  CHECK_NOTHROW(require_same({{"half-life", "120m"}, {"y-encoder", "hashing:dim=128"}}));
  CHECK_NOTHROW(require_same({{"kernel", "cosine"}, {"rank", "256"}, {"window", "never"}}));
  CHECK_NOTHROW(require_same({{"rank", "3"}, {"rank", "256"}}));
}

TEST_CASE("One view is the encoder that it has") {
  const RemoteStream plain{"chat", {{"encoder", "hashing:dim=128"}}, 0, 0};
  const RemoteStream viewed{"chat", {{"views", R"([{"encoder":"hashing:dim=128"}])"}}, 0, 0};
  for (const auto* stream : {&plain, &viewed}) {
    CHECK_NOTHROW(
        require_same_options({{"views", R"([{"encoder":"hashing:dim=128"}])"}}, *stream, "e"));
    CHECK_NOTHROW(require_same_options({{"encoder", "hashing:dim=128"}}, *stream, "e"));
    CHECK_THROWS_WITH(
        require_same_options({{"views", R"([{"encoder":"hashing:dim=64"}])"}}, *stream, "e"),
        Contains("--view: found"));
    CHECK_THROWS_WITH(require_same_options({{"encoder", "hashing:dim=64"}}, *stream, "e"),
                      Contains("--encoder: found"));
  }
  CHECK_THROWS_WITH(
      require_same_options({{"views", R"([{"encoder":"hashing:dim=128"},{"encoder":"hashing"}])"}},
                           plain, "e"),
      Contains("--view: found"));
}

TEST_CASE("Every option that means something else is told with both values") {
  CHECK_THROWS_WITH(require_same({{"encoder", "hashing:dim=64"}, {"rank", "3"}}),
                    Contains("--encoder: found hashing:dim=64") &&
                        Contains("has hashing:dim=128") && Contains("--rank: found 3") &&
                        Contains("has 256 (the default)"));
  CHECK_THROWS_WITH(require_same({{"window", "500"}}), Contains("has never"));
  CHECK_THROWS_WITH(require_same({{"x-encoder", "hashing:dim=128"}}), Contains("hashing:dim=64"));
}

TEST_CASE("Where a stream has another cut it is told which") {
  CHECK_THROWS_WITH(require_same({{"keep", "0.5"}}),
                    Contains("--keep: found 0.5") && Contains("has p 0.05 (the default)"));
  const RemoteStream strict{"chat", {{"fdr", "0.010"}}, 0, 0};
  CHECK_THROWS_WITH(require_same_options({{"p", "0.05"}}, strict, "tcp://a:1"),
                    Contains("has fdr 0.01;"));
  CHECK_THROWS_WITH(require_same_options({{"fdr", "0.05"}}, strict, "tcp://a:1"),
                    Contains("has 0.010;"));
  const RemoteStream counting{"chat", {{"estimator", "pmi"}}, 0, 0};
  CHECK_THROWS_WITH(require_same_options({{"score", "2"}}, counting, "tcp://a:1"),
                    Contains("has none (the default)"));
}

TEST_CASE("What a stream is follows from its options, whatever their order") {
  const auto spec =
      spec_of(RemoteStream{"s", {{"x-kernel", "linear"}, {"kernel", "cosine"}}, 0, 0});
  CHECK(spec.x_kernel == Kernel::parse("linear"));
  CHECK(spec.y_kernel == Kernel::parse("cosine"));
}

}  // namespace
}  // namespace phsic::test
