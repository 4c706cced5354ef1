// What clients send: refused by a RequestError, or a request whose parts fit together. The first
// byte tells which socket it comes to; frames end at "\n--\n".
#include "wire/decode.h"

#include <string_view>
#include <vector>

#include "core/spectrum.h"
#include "tests/fuzz/check_state.h"
#include "wire/answer_writer.h"

namespace {

using phsic::fuzz::require;

constexpr std::string_view kEnd = "\n--\n";

std::vector<std::string_view> frames_of(std::string_view text) {
  std::vector<std::string_view> frames;
  while (true) {
    const auto end = text.find(kEnd);
    frames.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return frames;
    text.remove_prefix(end + kEnd.size());
  }
}

bool lies_in(std::string_view part, const std::string& whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void require_sound(const phsic::Request& request) {
  const auto& pairs = request.pairs;
  if (pairs.are_vectors) {
    require(pairs.x.empty() && pairs.y.empty(), "vectors or texts");
    require(pairs.x_values.size() == pairs.x_rows * pairs.x_dim, "as many values as x says");
    require(pairs.y_values.size() == pairs.y_rows * pairs.y_dim, "as many values as y says");
  }
  const bool ranks = request.operation == phsic::Operation::kRank;
  if (!pairs.are_vectors && ranks) require(pairs.x.size() == 1, "one x to rank for");
  if (!pairs.are_vectors && !ranks) require(pairs.x.size() == pairs.y.size(), "pairs are pairs");
  require(pairs.times.empty() || pairs.times.size() == pairs.size(), "a time for each or none");
  require(pairs.ids.empty() || pairs.ids.size() == pairs.size(), "an id for each or none");
  for (const auto* side : {&pairs.x, &pairs.y}) {
    for (const auto text : *side) {
      require(lies_in(text, pairs.bytes), "texts are the request's own");
      require(phsic::is_utf8(text), "texts are UTF-8");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto frames = frames_of({reinterpret_cast<const char*>(data) + 1, size - 1});
  phsic::Decoder decoder({64});
  phsic::Request request;
  std::string answer;
  try {
    if (data[0] % 3 == 0) {
      decoder.request(frames, request);
    } else if (!decoder.message(frames, data[0] % 3 == 1, request)) {
      return 0;
    }
    require_sound(request);
    require(request.pairs.size() <= 64, "no more pairs than allowed");
    phsic::Outcome outcome;
    outcome.score.assign(request.pairs.size(), 0.5);
    outcome.percentile = outcome.p_value = outcome.score;
    outcome.published = std::make_shared<const phsic::PublishedModel>();
    answer = phsic::answer_json(request, outcome, phsic::scores_json(request, outcome));
  } catch (const phsic::RequestError& problem) {
    answer = phsic::error_answer(request.id, problem.code(), problem.what());
  }
  simdjson::dom::parser parser;
  require(parser.parse(answer).error() == simdjson::SUCCESS, "every answer is JSON");
  return 0;
}
