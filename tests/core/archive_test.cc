// Saved state: damaged, cut, foreign or absurd bytes are refused, each with a message that says
// what was found and what was expected.
#include "core/archive.h"

#include <xxhash.h>

#include <catch2/catch.hpp>

#include "core/pmi.h"
#include "core/refresh.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

using Gaussian = Subject<float, ItemKind::kDense, "gaussian", "cosine">;

struct Saved {
  Saved() : scene(5, 60, 60) {
    scene.config.x.pivots = 3;
    auto live = scene.learner();
    scene.feed(live, part(scene.stream, 0, 60));
    learner = serialise(live);
    EstimatorSpec spec;
    spec.kind = EstimatorKind::kGaussianPmi;
    model = serialise(*refresh(live, spec, Learner<float>::Extent::kWithoutHeldBack).model);
  }
  Scene<Gaussian> scene;
  std::string learner;
  std::string model;
};

TEST_CASE("State cut at any byte is refused") {
  const Saved saved;
  for (std::size_t size = 0; size < saved.model.size(); ++size) {
    CAPTURE(size);
    REQUIRE_THROWS_AS(parse<Model<float>>(std::string_view(saved.model).substr(0, size)), Error);
  }
  for (std::size_t size = 0; size < saved.learner.size(); size += 7) {
    REQUIRE_THROWS_AS(parse<Learner<float>>(std::string_view(saved.learner).substr(0, size)),
                      Error);
  }
  CHECK_THROWS_WITH(parse<Model<float>>(saved.model + "x"),
                    Catch::Contains("bytes of payload, expected"));
}

TEST_CASE("State with any bit flipped is refused") {
  const Saved saved;
  for (std::size_t at = 0; at < saved.model.size(); ++at) {
    std::string bent = saved.model;
    bent[at] = static_cast<char>(bent[at] ^ (1 << (at % 8)));
    CAPTURE(at);
    REQUIRE_THROWS_AS(parse<Model<float>>(bent), Error);
  }
}

TEST_CASE(
    "A payload with any byte changed is refused or stays usable, even with a right checksum") {
  const Saved saved;
  const auto payload = unseal(Model<float>::kArchiveKind, saved.model).rest();
  const auto& scene = saved.scene;
  int accepted = 0;
  for (std::size_t at = 0; at < payload.size(); ++at) {
    std::string bent(payload.begin(), payload.end());
    bent[at] = static_cast<char>(bent[at] ^ 0x55);
    try {
      const auto model = parse<Model<float>>(seal(Model<float>::kArchiveKind, bent));
      std::vector<double> scores(scene.test.size());
      ScoreScratch<float> scratch;
      model.score(scene.test.x.view(), scene.test.y.view(), scores.data(), nullptr, scratch);
      ++accepted;
    } catch (const Error&) {
    }
  }
  CHECK(accepted > 0);
}

TEST_CASE("Messages say what was found and what was expected") {
  const Saved saved;
  std::string other = saved.model;
  other.replace(0, 5, "OTHER");
  CHECK_THROWS_WITH(parse<Model<float>>(other),
                    Catch::Contains("found magic \"OTHER\\x0d\\x0a\\x00\", expected \"PHSIC"));
  other = saved.model;
  other[12] = 99;
  CHECK_THROWS_WITH(parse<Model<float>>(other),
                    Catch::Contains("found version 99, expected 2 to 4"));
  other = saved.model;
  other[100] = static_cast<char>(other[100] + 1);
  CHECK_THROWS_WITH(parse<Model<float>>(other), Catch::Contains("damaged, found checksum"));
  CHECK_THROWS_WITH(parse<Model<double>>(saved.model),
                    Catch::Contains("found kind \"MODf\", expected \"MODd\""));
  CHECK_THROWS_WITH(parse<Learner<float>>(saved.model),
                    Catch::Contains("found kind \"MODf\", expected \"LRNf\""));
  CHECK_THROWS_WITH(parse<CountPmi>(std::string_view("PHSIC")),
                    Catch::Contains("found 5 bytes, expected at least 32"));
}

// The same archive, as if written by another version.
std::string of_version(const std::string& bytes, std::uint32_t version) {
  constexpr std::size_t kBefore = 8 + 4;
  Writer middle;
  middle.number(version);
  std::string other = bytes.substr(0, bytes.size() - 8);
  other.replace(kBefore, 4, middle.bytes());
  Writer checksum;
  checksum.number<std::uint64_t>(XXH3_64bits(other.data(), other.size()));
  return other + checksum.bytes();
}

TEST_CASE("Every version since the oldest is read, and says which it is") {
  const std::string bytes = serialise(Calibration({1, 2, 3}, {0, 1}));
  CHECK(of_version(bytes, kArchiveVersion) == bytes);
  for (std::uint32_t version = 0; version < kArchiveVersion + 3; ++version) {
    CAPTURE(version);
    const std::string other = of_version(bytes, version);
    if (version >= kOldestArchiveVersion && version <= kArchiveVersion) {
      Reader reader = unseal(Calibration::kArchiveKind, other);
      CHECK(reader.version() == version);
      CHECK(reader.rest().size() == bytes.size() - 32);
    } else {
      CHECK_THROWS_WITH(unseal(Calibration::kArchiveKind, other),
                        Catch::Contains("found version " + std::to_string(version) + ", expected " +
                                        std::to_string(kOldestArchiveVersion) + " to " +
                                        std::to_string(kArchiveVersion)));
    }
  }
  CHECK(Reader({}, 1).version() == 1);
  CHECK(Reader({}).version() == kArchiveVersion);
}

TEST_CASE("A claimed size is believed only as far as there are bytes") {
  Writer writer;
  writer.number<std::uint64_t>(1ULL << 60);
  const std::string payload = writer.bytes();
  Reader reader(payload);
  CHECK_THROWS_WITH(
      reader.array<double>("values"),
      Catch::Contains("found a count of 1152921504606846976, expected at most the 0"));
}

TEST_CASE("Numbers are little-endian whatever the machine") {
  Writer writer;
  writer.number<std::uint32_t>(0x01020304);
  writer.number<double>(1.0);
  CHECK(writer.bytes() == std::string("\x04\x03\x02\x01\0\0\0\0\0\0\xf0\x3f", 12));
}

TEST_CASE("A pivot change is read back to the same bits") {
  const Saved saved;
  const auto& change = *saved.scene.pivots;
  const std::string bytes = serialise(change);
  CHECK(serialise(parse<PivotChange<float>>(bytes)) == bytes);
}

template <class Object>
void require_same_bits(const Object& object) {
  const std::string bytes = serialise(object);
  CHECK(serialise(parse<Object>(bytes)) == bytes);
}

TEST_CASE("Every part of the state can be saved by itself") {
  Saved saved;
  auto learner = saved.scene.learner();
  saved.scene.feed(learner, saved.scene.stream);
  const Moments moments = learner.moments(Learner<float>::Extent::kAll);
  require_same_bits(moments);
  require_same_bits(Estimator<float>::phsic(moments.covariance(), 0, true, 1));
  require_same_bits(Calibration({1, 2, 3}, {0, 1}));
  Reservoir<float> reservoir(20, learner.config().x.items, learner.config().y.items);
  for (std::size_t i = 0; i < saved.scene.stream.size(); ++i) {
    reservoir.offer(saved.scene.stream.x.view(), saved.scene.stream.y.view(), i, i, 0,
                    Random(1, i).uniform());
  }
  require_same_bits(reservoir);
}

TEST_CASE("Learners of another shape cannot be merged") {
  Saved saved;
  Learner<float> ours = saved.scene.learner();
  StreamConfig other = saved.scene.config;
  other.x.kernel = Kernel::laplacian(1);
  CHECK_THROWS_WITH(ours.merge(Learner<float>(other)),
                    Catch::Contains("found another configuration"));
}

}  // namespace
}  // namespace phsic::test
