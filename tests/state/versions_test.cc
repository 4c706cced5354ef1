// State files of every version so far, kept as they were written. Each must still be opened, give
// the pairs it had and score as it did.
//
// A new version adds its own. The test below that is hidden writes what this one makes:
//
//   PHSIC_MAKE_STATE=tests/state/v5.db build/release/tests/state_tests '[make]'
//
// and v5.scores beside it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "state/stream_copy.h"
#include "state/verify.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

const char* const kVersions[] = {"v1", "v2", "v3", "v4"};
// Of what is learned. Scored are some of the same pairs, because a stream that counts knows no
// others.
constexpr std::uint64_t kSeed = 20;

std::vector<std::pair<std::string, StoredOptions>> streams() {
  const StoredOptions small = {
      {"encoder", "hashing:dim=16"}, {"reservoir", "16"}, {"held-back", "16"},
      {"estimator", "whitened"},     {"ridge", "1"},      {"rank", "6"}};
  auto pivots = small;
  override_options(pivots, {{"kernel", "gaussian:sigma=1"}, {"pivots", "6"}, {"half-life", "60s"}});
  return {{"chat", small}, {"pivots", pivots}, {"counts", {{"estimator", "pmi"}}}};
}

TEST_CASE("Write the state file of this version", "[.][make]") {
  const char* name = std::getenv("PHSIC_MAKE_STATE");
  REQUIRE(name != nullptr);
  std::ofstream scores(std::filesystem::path(name).replace_extension("scores"));
  scores << std::setprecision(9);
  StateFile file(name, Database::Access::kCreate);
  std::uint32_t id = 0;
  for (const auto& [stream, options] : streams()) {
    Recorder recorder(options, kSeed, stream, ++id);
    for (int i = 0; i < 4; ++i) {
      recorder.learn(i < 3 ? 100 : 30);
      recorder.freeze(Stream::Extent::kWithoutHeldBack);
      if (recorder.is_building()) recorder.adopt();
      if (i == 2) recorder.take_snapshot();
    }
    recorder.refresh_every(100);
    recorder.learn(10);
    recorder.write(file, recorder.snapshots().begin()->first, false);
    scores << stream << ' ' << recorder.pairs();
    for (const double score : scores_of(recorder.stream(), kSeed + 1)) scores << ' ' << score;
    scores << '\n';
  }
  file.put_feed("chat/score", 250);
}

void check_scores(const StateFile& file, const std::string& expected) {
  std::istringstream lines(expected);
  std::size_t streams = 0;
  for (std::string line; std::getline(lines, line); ++streams) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t pairs = 0;
    words >> name >> pairs;
    INFO("stream " << name);
    const auto copy = take_out(file, find_stream(file, name), EncoderPath(), Trust::kNamesOnly);
    CHECK(copy.remarks.empty());
    CHECK(copy.replayed == 40);
    CHECK(copy.stream->pairs() == pairs);
    CHECK(copy.serving.ids.size() == Recorder::kIdWindow);
    CHECK(copy.serving.counters.at("scored") == 300);
    std::vector<double> wanted;
    for (double score = 0; words >> score;) wanted.push_back(score);
    const auto found = scores_of(*copy.stream, kSeed + 1);
    REQUIRE(found.size() == wanted.size());
    const auto largest =
        std::abs(*std::max_element(wanted.begin(), wanted.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); }));
    CHECK(largest > 0);
    // On another processor the last bits differ.
    double difference = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      difference = std::max(difference, std::abs(found[i] - wanted[i]));
    }
    CHECK(difference < 1e-4 * largest);
  }
  CHECK(streams == 3);
}

TEST_CASE("State of every version is opened and scores as it did") {
  for (const std::string version : kVersions) {
    INFO(version);
    const auto kept = std::filesystem::path(PHSIC_STATE_FILES) / version;
    const auto expected = read_bytes(kept.string() + ".scores");
    const StateFolder folder;
    const auto name = folder.path("state.db");
    write_bytes(name, read_bytes(kept.string() + ".db"));
    // As it was, and as it is when a daemon has opened it.
    for (const auto access : {Database::Access::kRead, Database::Access::kWrite}) {
      const StateFile file(name, access);
      CHECK(verify(name).problems.empty());
      CHECK(file.feed().at("chat/score") == 250);
      check_scores(file, expected);
    }
    CHECK(StateFile(name, Database::Access::kRead).version() == kStateVersion);
  }
}

}  // namespace
}  // namespace phsic::test
