#include "wire/request_writer.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace phsic::test {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string_view>;

Json parse(const RequestWriter& request) { return Json::parse(request.json(7)); }

TEST_CASE("A request has operation, stream and id, and what was added") {
  RequestWriter request("learn", "chat");
  request.add_no_pairs();
  request.add_true("wait");
  request.add_number("top", 3);
  request.add_text("x", "a\"b\\c\n\x01");
  CHECK(parse(request) == Json({{"id", 7},
                                {"op", "learn"},
                                {"stream", "chat"},
                                {"pairs", Json::array()},
                                {"wait", true},
                                {"top", 3},
                                {"x", "a\"b\\c\n\x01"}}));
}

TEST_CASE("Without a stream none is named") {
  CHECK(parse(RequestWriter("ping", "")) == Json({{"id", 7}, {"op", "ping"}}));
  CHECK(RequestWriter::for_ingest("chat").json() == R"({"stream":"chat"})");
}

TEST_CASE("Pairs are arrays, or objects where they have a time or an id") {
  const Texts x = {"a", "b"};
  const Texts y = {"c", "d"};
  const std::vector<double> times = {1700000000.25, -1};
  const Texts ids = {"m-1", "\xe4\xbd\xa0"};
  RequestWriter plain("score", "");
  CHECK(plain.add_pairs({x, y, {}}, {}, 0) == 2);
  CHECK(parse(plain)["pairs"] == Json::parse(R"([["a","c"],["b","d"]])"));
  RequestWriter second("score", "");
  CHECK(second.add_pairs({x, y, {}}, {}, 1) == 1);
  CHECK(parse(second)["pairs"] == Json::parse(R"([["b","d"]])"));
  RequestWriter whole("score", "");
  CHECK(whole.add_pairs({x, y, times}, ids, 0) == 2);
  CHECK(parse(whole)["pairs"] == Json::parse(R"([{"x":"a","y":"c","id":"m-1","time":1700000000.25},
                                                 {"x":"b","y":"d","id":"你","time":-1}])"));
}

TEST_CASE("A text that is not UTF-8 is sent with U+FFFD for what is broken") {
  const Texts x = {"caf\xe9 \xf0\x9f\x98"};
  const Texts y = {"\xff"};
  RequestWriter request("score", "");
  CHECK(request.add_pairs({x, y, {}}, {}, 0) == 1);
  const auto pair = parse(request)["pairs"][0];
  CHECK(pair[0] == "caf\xef\xbf\xbd \xef\xbf\xbd");
  CHECK(pair[1] == "\xef\xbf\xbd");
}

TEST_CASE("A request takes no more than it may hold") {
  const std::string large(kRequestBytes / 4, 'a');
  const Texts x(10, large);
  const Texts y(10, "b");
  RequestWriter by_bytes("score", "");
  const auto count = by_bytes.add_pairs({x, y, {}}, {}, 0);
  CHECK(count == 3);
  CHECK(parse(by_bytes)["pairs"].size() == count);
  CHECK(by_bytes.json().size() <= kRequestBytes + 8);
  RequestWriter by_count("score", "");
  CHECK(by_count.add_pairs({x, y, {}}, {}, 0, {2, kMostBytes}) == 2);
  const Texts many(2 * kRequestPairs, "a");
  RequestWriter by_default("rank", "");
  CHECK(by_default.add_texts("candidates", many, 0) == kRequestPairs);
}

TEST_CASE("A pair too large for company goes alone, and one too large for all is not sent") {
  const std::string large(2 * kRequestBytes, 'a');
  const std::string huge(kMostBytes / 6 + 1, '\x01');  // six bytes each, in JSON
  const Texts x = {large, "a", huge};
  const Texts y = {"b", "b", "b"};
  RequestWriter alone("score", "");
  CHECK(alone.add_pairs({x, y, {}}, {}, 0) == 1);
  RequestWriter before("score", "");
  CHECK(before.add_pairs({x, y, {}}, {}, 1) == 1);
  RequestWriter nothing("score", "");
  CHECK(nothing.add_pairs({x, y, {}}, {}, 2) == 0);
  CHECK(parse(nothing) == Json({{"id", 7}, {"op", "score"}}));
}

}  // namespace
}  // namespace phsic::test
