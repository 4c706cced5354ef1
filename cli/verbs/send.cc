#include "cli/verbs/send.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>
#include <vector>

#include "cli/client/connection.h"
#include "cli/client/same_options.h"
#include "cli/interrupt.h"
#include "cli/table/pair_table.h"
#include "wire/answer_reader.h"
#include "wire/request_writer.h"

namespace phsic {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestId = 256;  // bytes, as the wire has it
constexpr double kMostRate = 1e9;
constexpr double kMessagesPerSecond = 20;  // at least, where the rate allows it

// Where to send, and as what.
struct Target {
  std::string endpoint;
  std::string stream;
  bool learns_copies = false;  // a text that is paired with itself; true where nobody knows
  RequestLimits limits = {};
};

// A message of a stream that is not there is lost without a word, so it is looked for.
Target find_target(const SendArguments& arguments) {
  if (!arguments.endpoint.empty()) return {arguments.endpoint, arguments.daemon.stream, true};
  auto client = arguments.daemon.connect();
  const auto answer = client.ask(RequestWriter("streams", ""));
  const auto streams = read_streams(answer.root());
  const auto& stream = choose_stream(streams, arguments.daemon.stream, client.endpoint());
  return {ask_for_endpoint(client, "ingest"), stream.name, spec_of(stream).learns_identical,
          read_limits(answer.root())};
}

class Sender {
 public:
  Sender(const SendArguments& arguments, Target target)
      : arguments_(arguments),
        target_(std::move(target)),
        connection_(zmq::socket_type::push, target_.endpoint, "ingest") {
    connection_.await_daemon(arguments.daemon.patience());
  }

  // Reads and sends until the end, or until Ctrl-C.
  void run(PairTable& table) {
    PairBatch batch;
    std::vector<PairProblem> problems;
    start_ = Clock::now();
    // What was read when Ctrl-C came may be half a line.
    while (table.read(batch, rows_at_once(), arguments_.follow) && !Interrupt::is_wanted()) {
      problems.clear();
      take(batch, problems);
      send_taken(problems);
      table.report(batch, problems);
      if (Interrupt::is_wanted()) return;
    }
  }

  // Waits until the network has everything.
  void flush() {
    if (connection_.flush(arguments_.daemon.patience())) return;
    throw Error(
        fmt::format("{}: the daemon did not take all of {} pairs; the last ones may be lost",
                    connection_.shown(), sent_));
  }

  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  // A slow rate is kept pair by pair.
  [[nodiscard]] std::size_t rows_at_once() const {
    if (arguments_.rate == 0) return arguments_.batch;
    const auto even = static_cast<std::size_t>(arguments_.rate / kMessagesPerSecond);
    return std::clamp<std::size_t>(even, 1, arguments_.batch);
  }

  // The pairs that can be sent.
  void take(const PairBatch& batch, std::vector<PairProblem>& problems) {
    row_.clear();
    x_.clear();
    y_.clear();
    times_.clear();
    ids_.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!arguments_.id.empty()) {
        const auto id = batch.rows.field(batch.row_of[i], PairTable::kExtra);
        if (id.size() > kLongestId) {
          problems.push_back(
              {i, fmt::format("the id has {} bytes, expected {} at most", id.size(), kLongestId)});
          continue;
        }
        ids_.push_back(id);
      }
      row_.push_back(i);
      x_.push_back(batch.x[i]);
      y_.push_back(batch.y[i]);
      if (!batch.times.empty()) times_.push_back(batch.times[i]);
    }
  }

  void send_taken(std::vector<PairProblem>& problems) {
    const TextPairs pairs{x_, y_, times_};
    for (std::size_t first = 0; first < x_.size();) {
      auto message = RequestWriter::for_ingest(target_.stream);
      const auto count = message.add_pairs(pairs, ids_, first, target_.limits);
      if (count == 0) {
        problems.push_back({row_[first++], target_.limits.too_large("pair")});
        continue;
      }
      if (!await_turn() || !send(message.json())) return;
      sent_ += count;
      first += count;
    }
  }

  // Both are false when Ctrl-C came first.
  [[nodiscard]] bool await_turn() const {
    if (arguments_.rate == 0) return true;
    const auto turn =
        start_ + std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double>(static_cast<double>(sent_) / arguments_.rate));
    while (Clock::now() < turn) {
      if (Interrupt::is_wanted()) return false;
      std::this_thread::sleep_until(std::min(turn, Clock::now() + kInterruptLook));
    }
    return true;
  }

  [[nodiscard]] bool send(const std::string& message) {
    while (true) {
      if (connection_.was_lost()) {
        throw Error(fmt::format("{}: the daemon hung up after {} pairs; the last ones may be lost",
                                connection_.shown(), sent_));
      }
      if (connection_.send(message)) return true;
      if (Interrupt::is_wanted()) return false;
      connection_.wait_to_send(kInterruptLook);
    }
  }

  const SendArguments& arguments_;
  Target target_;
  Connection connection_;
  Clock::time_point start_;
  std::uint64_t sent_ = 0;
  // What is sent of a batch: views of it, and the pair's number there.
  std::vector<std::size_t> row_;
  std::vector<std::string_view> x_;
  std::vector<std::string_view> y_;
  std::vector<double> times_;
  std::vector<std::string_view> ids_;
};

}  // namespace

void SendArguments::add_to(CLI::App& verb) {
  verb.add_option("INPUT", input, "table of pairs, - for standard input (default)");
  verb.add_option("--id", id, "column of an id, which comes back on the feed")->type_name("COL");
  verb.add_option("--rate", rate, "pairs a second (default: as fast as the daemon takes them)")
      ->check(CLI::Range(0.001, kMostRate))
      ->type_name("N");
  verb.add_option("--batch", batch, "pairs in a message, at most (default: 256)")
      ->check(CLI::Range(std::size_t{1}, kRequestPairs))
      ->type_name("N");
  verb.add_flag("--follow", follow,
                "send each line as soon as it is there, and wait at the end of a file for more");
  daemon.add_to(verb);
  daemon.add_stream_to(verb);
  verb.add_option("--endpoint", endpoint,
                  "the daemon's ingest endpoint (default: the daemon is asked)")
      ->type_name("ENDPOINT")
      ->group("Daemon");
  table.add_to(verb, TableUse::kRead);
  verb.footer(
      "Each pair is scored, learned and published on the daemon's feed, which `phsic tail` "
      "follows.\nEnds when the network has taken everything; a daemon that does not keep up slows "
      "it down.\n\n"
      "Examples:\n"
      "  phsic send crawl.tsv.gz --rate 2000\n"
      "  phsic send --follow --id id chat.jsonl");
}

void run_send(const SendArguments& arguments) {
  const Interrupt interrupt;
  const auto target = find_target(arguments);
  Sender sender(arguments, target);
  auto following = arguments.table;
  following.following = {arguments.follow, Interrupt::is_wanted};
  std::vector<std::string> extra;
  if (!arguments.id.empty()) extra.push_back(arguments.id);
  PairTable table(arguments.input, following, extra);
  if (!target.learns_copies) table.expect_two_texts();
  try {
    sender.run(table);
  } catch (const BadLineError&) {
    sender.flush();  // what came before it
    throw;
  }
  sender.flush();
  fmt::print("sent {} pair{}\n", sender.sent(), sender.sent() == 1 ? "" : "s");
  table.finish();
  if (Interrupt::is_wanted() && !arguments.follow) throw Error("interrupted before the end");
}

}  // namespace phsic
