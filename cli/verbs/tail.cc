#include "cli/verbs/tail.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/client/connection.h"
#include "cli/interrupt.h"
#include "wire/answer_reader.h"
#include "wire/printable.h"

namespace phsic {
namespace {

std::string find_feed(const TailArguments& arguments) {
  if (!arguments.endpoint.empty()) return arguments.endpoint;
  auto client = arguments.daemon.connect();
  // A stream that is not there would be waited for in vain.
  if (!arguments.daemon.stream.empty()) {
    static_cast<void>(choose_stream(read_streams(client.ask(RequestWriter("streams", "")).root()),
                                    arguments.daemon.stream, client.endpoint()));
  }
  return ask_for_endpoint(client, "feed");
}

// Prefixes of the wanted topics. Without a stream they have no common one.
std::vector<std::string> prefixes_of(const TailArguments& arguments) {
  const auto& stream = arguments.daemon.stream;
  if (stream.empty()) return {""};
  std::vector<std::string> prefixes;
  for (const auto& topic : arguments.filter.topics) {
    prefixes.push_back(fmt::format("{}/{}", stream, topic));
  }
  if (prefixes.empty()) prefixes.push_back(fmt::format("{}/", stream));
  return prefixes;
}

void print_line(std::string_view line) {
  fmt::print("{}\n", for_output(line));
  if (std::fflush(stdout) != 0) throw Error("standard output cannot be written");
}

class Tail {
 public:
  explicit Tail(const TailArguments& arguments)
      : arguments_(arguments),
        feed_(zmq::socket_type::sub, find_feed(arguments), "feed", prefixes_of(arguments)) {
    feed_.await_daemon(arguments.daemon.patience());
  }

  void run() {
    while (!Interrupt::is_wanted() && !is_done()) {
      tell_changes();
      if (const auto frames = feed_.receive()) {
        take(*frames);
      } else {
        feed_.wait_to_receive(kInterruptLook);
      }
    }
  }

 private:
  [[nodiscard]] bool is_done() const { return arguments_.count > 0 && shown_ == arguments_.count; }

  // A daemon that ends may come back.
  void tell_changes() {
    const bool up = feed_.is_up();
    if (up == was_up_) return;
    was_up_ = up;
    fmt::print(stderr, "phsic: {}: the daemon {}\n", feed_.shown(),
               up ? "is back" : "is gone; waiting for it");
  }

  void take(const std::vector<std::string>& frames) {
    if (frames.size() != 2) return;
    const auto& topic = frames[0];
    if (!arguments_.filter.wants_topic(topic)) return;
    try {
      const Message message(frames[1]);
      tell_gap(gaps_.look(topic, message.root()));
      if (!arguments_.filter.wants(topic, message.root())) return;
      if (!arguments_.json && !names_its_pair(topic, message.root())) tell_how_to_name_pairs();
      print_line(arguments_.json ? with_topic(topic, frames[1])
                                 : describe_feed(topic, message.root()));
      ++shown_;
    } catch (const Error& problem) {
      throw Error(fmt::format("{}: a message of the feed cannot be read: {}", feed_.shown(),
                              problem.what()));
    }
  }

  void tell_how_to_name_pairs() {
    if (std::exchange(told_how_to_name_pairs_, true)) return;
    fmt::print(stderr,
               "phsic: found pairs with neither texts nor ids: a stream with feed-texts: true "
               "publishes its texts, and `phsic send --id COL` gives ids\n");
  }

  // Lines of JSON stay lines of JSON.
  void tell_gap(const std::string& gap) const {
    if (gap.empty()) return;
    if (arguments_.json) {
      fmt::print(stderr, "phsic: {}\n", gap);
    } else {
      print_line(gap);
    }
  }

  // The message as it was, with its topic as the first member.
  static std::string with_topic(std::string_view topic, std::string_view object) {
    const auto inside = object.substr(object.find('{') + 1);
    const auto first = inside.find_first_not_of(" \t\r\n");
    const bool is_empty = first == std::string_view::npos || inside[first] == '}';
    auto line = fmt::format("{{\"topic\":{}{}{}", to_json(topic), is_empty ? "" : ",", inside);
    // Between the parts of an object they mean nothing, and inside of a string they cannot be.
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return line;
  }

  const TailArguments& arguments_;
  Connection feed_;
  GapFinder gaps_;
  std::uint64_t shown_ = 0;
  bool was_up_ = true;
  bool told_how_to_name_pairs_ = false;
};

}  // namespace

void TailArguments::add_to(CLI::App& verb) {
  verb.add_option("--topic", filter.topics, "score, flag or event (default: all three)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"score", "flag", "event"}))
      ->type_name("TOPIC,...");
  verb.add_option("--max-percentile", filter.max_percentile, "only percentiles up to this, 0 to 1")
      ->type_name("SHARE");
  verb.add_option("--min-percentile", filter.min_percentile, "only percentiles from this on")
      ->type_name("SHARE");
  verb.add_option("--max-p", filter.max_p, "only p-values up to this")->type_name("P");
  verb.add_option("--min-p", filter.min_p, "only p-values from this on")->type_name("P");
  verb.add_option("--below", filter.below, "only raw scores below this")->type_name("SCORE");
  verb.add_option("--above", filter.above, "only raw scores above this")->type_name("SCORE");
  verb.add_option("--count", count, "end after so many messages (default: at Ctrl-C)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62U))
      ->type_name("N");
  verb.add_flag("--json", json, "print each message as it is, with its topic, on one line");
  daemon.add_to(verb);
  verb.add_option("--stream", daemon.stream, "which stream of the daemon (default: all)")
      ->type_name("NAME")
      ->group("Daemon");
  verb.add_option("--endpoint", endpoint,
                  "the daemon's feed endpoint (default: the daemon is asked)")
      ->type_name("ENDPOINT")
      ->group("Daemon");
  verb.footer(
      "Prints a line for each message. Messages are numbered: those that were lost because this "
      "end was too\nslow are told. Times are UTC. Ctrl-C ends with status 0.\n\n"
      "Examples:\n"
      "  phsic tail --topic flag\n"
      "  phsic tail --stream chat --topic score --min-p 0.2 --json > suspects.jsonl");
}

void run_tail(const TailArguments& arguments) {
  const Interrupt interrupt;
  Tail(arguments).run();
}

}  // namespace phsic
