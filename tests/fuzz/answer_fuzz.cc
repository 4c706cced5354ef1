// Answers and feed messages of any bytes: read, or refused by an Error; and what is printed of them
// is fit for a terminal.
#include <algorithm>

#include "cli/client/feed_view.h"
#include "cli/client/same_options.h"
#include "cli/verbs/ask.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/stats_table.h"
#include "cli/verbs/top.h"
#include "tests/fuzz/check_state.h"
#include "wire/answer_reader.h"
#include "wire/printable.h"

namespace phsic::fuzz {
namespace {

// Calls what may refuse the message.
template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const Error&) {
    return;  // refused, not crashed
  }
}

void check_text(std::string_view text) {
  require(std::all_of(text.begin(), text.end(),
                      [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; }),
          "nothing commands the terminal");
  require(utf8_prefix(text) == text.size(), "what is printed is UTF-8");
}

void check_scores(const JsonObject& root) {
  constexpr std::size_t kCount = 3;
  double scores[kCount] = {};
  std::vector<PairProblem> problems;
  read_scores(root, 5, kCount, scores, problems);
  for (const auto& problem : problems) {
    require(problem.row == PairProblem::kNoRow || (problem.row >= 5 && problem.row < 5 + kCount),
            "a problem is one of a pair");
    check_text(problem.message);
  }
}

void check_streams(const JsonObject& root) {
  for (const auto& stream : read_streams(root)) {
    attempt([&] { static_cast<void>(spec_of(stream)); });
    attempt([&] { require_same_options({{"rank", "3"}, {"kernel", "linear"}}, stream, "e"); });
  }
}

void check_feed(const JsonObject& root) {
  FeedFilter filter;
  filter.below = 1;
  filter.min_p = 0.5;
  GapFinder gaps;
  for (const char* topic : {"a/score", "a/event"}) {
    attempt([&] { static_cast<void>(filter.wants(topic, root)); });
    attempt([&] { check_text(gaps.look(topic, root)); });
    attempt([&] { check_text(describe_feed(topic, root)); });
  }
}

void check(std::string_view bytes) {
  const Message message(bytes);
  const auto& root = message.root();
  const Message again(message.answer());
  require(again.answer() == message.answer(), "an answer is read as it was printed");
  attempt([&] { static_cast<void>(refusal(root, "tcp://a:1")); });
  attempt([&] { check_scores(root); });
  attempt([&] { check_streams(root); });
  check_feed(root);
  attempt([&] {
    const auto stats = stats_of_stream(root, "");
    attempt([&] { static_cast<void>(read_facts(stats)); });
    attempt([&] { static_cast<void>(read_calibration(root, stats)); });
  });
  attempt([&] { static_cast<void>(read_endpoints(root, "feed")); });
  attempt([&] { check_text(describe_stats(root)); });
  attempt([&] { check_text(describe_top(root, root, 1)); });
  attempt([&] { check_text(describe_explanation(root)); });
  attempt([&] { check_text(describe_members(root)); });
  attempt([&] { check_text(describe_streams(root)); });
  attempt([&] { check_text(describe_ping(root)); });
}

}  // namespace
}  // namespace phsic::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  phsic::fuzz::attempt([&] { phsic::fuzz::check({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
