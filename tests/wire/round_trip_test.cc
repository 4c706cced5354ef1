// What a client writes, a daemon reads.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "core/random.h"
#include "wire/decode.h"
#include "wire/request_writer.h"

namespace phsic::test {
namespace {

// A text of pieces that JSON has to take care of.
std::string random_text(Random& random) {
  static const std::vector<std::string> kPieces = {
      "a", "\"", "\\", "\n", "\t", std::string(1, '\0'), "\x01", "\x7f", "/", "é", "你", "😀", " "};
  std::string text;
  for (auto left = random.below(12); left > 0; --left) text += kPieces[random.below(13)];
  return text;
}

struct RandomPairs {
  std::vector<std::string> texts;
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
  std::vector<std::string_view> ids;
  std::vector<double> times;

  explicit RandomPairs(Random& random) {
    const auto count = 1 + random.below(20);
    for (std::size_t i = 0; i < 3 * count; ++i) texts.push_back(random_text(random));
    const bool has_ids = random.below(2) == 0;
    const bool has_times = random.below(2) == 0;
    for (std::size_t i = 0; i < count; ++i) {
      x.emplace_back(texts[3 * i]);
      y.emplace_back(texts[3 * i + 1]);
      if (has_ids) ids.emplace_back(texts[3 * i + 2]);
      if (has_times) times.push_back(1e9 * (random.uniform() - 0.2));
    }
  }
};

Request read(const RequestWriter& written, std::uint64_t id) {
  const auto json = written.json(id);
  const std::array<std::string_view, 1> frames = {json};
  Request request;
  Decoder(Decoder::Limits{100}).request(frames, request);
  return request;
}

void require_same(const PairBlock& found, const RandomPairs& expected) {
  REQUIRE(found.x == expected.x);
  REQUIRE(found.y == expected.y);
  REQUIRE(found.times == expected.times);
  REQUIRE(found.ids.size() == expected.ids.size());
}

TEST_CASE("Pairs are read as they were written, whatever is in their texts") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const RandomPairs pairs(random);
    RequestWriter writer("score", "chat");
    REQUIRE(writer.add_pairs({pairs.x, pairs.y, pairs.times}, pairs.ids, 0) == pairs.x.size());
    const auto request = read(writer, seed);
    CHECK(request.operation == Operation::kScore);
    CHECK(request.scores);
    CHECK_FALSE(request.learns);
    CHECK(request.stream == "chat");
    CHECK(request.id == std::to_string(seed));
    require_same(request.pairs, pairs);
    // Equal ids are read as equal, and others are not.
    for (std::size_t i = 0; i < pairs.ids.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        REQUIRE((request.pairs.ids[i] == request.pairs.ids[k]) == (pairs.ids[i] == pairs.ids[k]));
      }
    }
  }
}

TEST_CASE("Pairs for ingest are read as they were written") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const RandomPairs pairs(random);
    auto writer = RequestWriter::for_ingest("chat");
    REQUIRE(writer.add_pairs({pairs.x, pairs.y, pairs.times}, pairs.ids, 0) == pairs.x.size());
    const auto json = writer.json();
    const std::array<std::string_view, 1> frames = {json};
    Request request;
    REQUIRE(Decoder(Decoder::Limits{100}).message(frames, true, request));
    CHECK(request.stream == "chat");
    CHECK(request.scores);
    CHECK(request.learns);
    require_same(request.pairs, pairs);
  }
}

TEST_CASE("Candidates are read as they were written") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const RandomPairs pairs(random);
    RequestWriter writer("rank", "");
    writer.add_text("x", pairs.x[0]);
    REQUIRE(writer.add_texts("candidates", pairs.y, 0) == pairs.y.size());
    const auto request = read(writer, 1);
    CHECK(request.operation == Operation::kRank);
    CHECK(request.stream.empty());
    CHECK(request.pairs.x == std::vector{pairs.x[0]});
    CHECK(request.pairs.y == pairs.y);
  }
}

TEST_CASE("What is asked beside pairs is read as it was written") {
  RequestWriter learn("learn", "a");
  learn.add_no_pairs();
  learn.add_true("wait");
  learn.add_text("promise", "durable");
  const auto learning = read(learn, 1);
  CHECK(learning.learns);
  CHECK(learning.waits);
  CHECK(learning.durable == true);
  CHECK(learning.pairs.size() == 0);
  RequestWriter explain("explain", "a");
  const std::vector<std::string_view> text = {"a"};
  explain.add_pairs({text, text, {}}, {}, 0);
  explain.add_number("top", 7);
  CHECK(read(explain, 1).top == 7);
  RequestWriter refresh("refresh", "");
  refresh.add_true("all");
  CHECK(read(refresh, 1).all);
  CHECK(read(RequestWriter("snapshot", ""), 1).is_order());
  CHECK(read(RequestWriter("ping", ""), 1).operation == Operation::kPing);
}

// A request is moved into its task; this moves one the same way.
TEST_CASE("A request that has moved still has its texts") {
  RequestWriter writer("score", "");
  const std::vector<std::string_view> x = {"x"};
  const std::vector<std::string_view> y = {"y"};
  writer.add_pairs({x, y, {}}, {}, 0);
  auto request = read(writer, 1);
  const auto moved = std::make_unique<Request>(std::move(request));
  request = {};
  CHECK(moved->pairs.x == x);
  CHECK(moved->pairs.y == y);
}

}  // namespace
}  // namespace phsic::test
