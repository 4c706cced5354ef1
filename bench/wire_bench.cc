// The wire: what a daemon adds to a bare round trip, and what the wire takes from its speed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <thread>

#include "bench/live_daemon.h"
#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "bench/texts.h"
#include "bench/wire.h"
#include "cli/session/session.h"
#include "core/random.h"

namespace phsic::bench {
namespace {

// Ours and the bare echo in turns; the ratio of the medians.
void race_round_trips(Report& report, const std::string& name, LiveDaemon& daemon,
                      const Frames& frames, Goal goal) {
  BareEcho echo;
  constexpr int kWarmUp = 300;
  constexpr int kTrips = 4000;
  std::vector<double> ours;
  std::vector<double> bare;
  for (int i = 0; i < kWarmUp + kTrips; ++i) {
    auto began = Clock::now();
    send(daemon.client(), frames);
    require_ok(daemon.client().receive());
    const double own = since(began);
    began = Clock::now();
    send(echo.client(), frames);
    static_cast<void>(echo.client().receive());
    const double other = since(began);
    if (i < kWarmUp) continue;
    ours.push_back(own);
    bare.push_back(other);
  }
  report.add(fmt::format("{}: round trip p50, against a bare echo", name),
             quantile(ours, 0.5) / quantile(bare, 0.5), "times", goal);
  report.add(fmt::format("{}: round trip p50", name), 1e6 * quantile(ours, 0.5), "us");
  report.add(fmt::format("{}: bare echo p50", name), 1e6 * quantile(bare, 0.5), "us");
}

std::unique_ptr<Session> local_session(const TextSample& sample) {
  // As the daemon's (daemon_arguments): the same pairs come again and again.
  DecideSpec decide;
  decide.duplicates = DuplicatePolicy::kLearn;
  auto session = Session::open(StreamSpec(), decide, EncoderPath(), 1);
  std::vector<PairProblem> problems;
  session->learn({sample.x, sample.y, {}}, problems);
  session->finish();
  return session;
}

double local_rate(Session& session, const TextSample& sample, bool learns) {
  PairResults results;
  const auto began = Clock::now();
  for (std::size_t first = 0; first < sample.x.size(); first += kBatchPairs) {
    const TextPairs pairs{std::span(sample.x).subspan(first, kBatchPairs),
                          std::span(sample.y).subspan(first, kBatchPairs),
                          {}};
    if (learns) {
      session.score_then_learn(pairs, results);
    } else {
      session.score(pairs, results);
    }
  }
  return static_cast<double>(sample.x.size()) / since(began);
}

}  // namespace

void round_trips(Report& report) {
  report.note(
      "one request at a time over ipc, against a bare ROUTER/DEALER echo of the same bytes");
  Random random(5);
  {
    LiveDaemon daemon({"encoder=vectors:dim=300", "refresh-after=never"});
    for (int i = 0; i < 8; ++i) {
      send(daemon.client(), vectors("learn", 1024, 300, random));
      require_ok(daemon.client().receive());
    }
    static_cast<void>(daemon.client().ask(R"({"op":"refresh","all":true})"));
    race_round_trips(report, "vectors of 300", daemon, vectors("score", 1, 300, random),
                     at_most(1.5));
  }
  LiveDaemon daemon({"refresh-after=never"});
  const auto sample = make_texts(kLearned, 3);
  teach(daemon.client(), sample);
  race_round_trips(report, "text, hashing", daemon, {request("\"op\":\"score\",", sample, 7, 1)},
                   at_most(2));
}

void wire_throughput(Report& report) {
  report.note("texts in requests of 256 pairs over ipc, against the same scored in this process");
  LiveDaemon daemon({"refresh-after=never"});
  const auto sample = make_texts(kLearned, 3);
  teach(daemon.client(), sample);
  const auto local = local_session(sample);
  std::vector<std::string> scoring;
  std::vector<std::string> learning;
  for (std::size_t first = 0; first < sample.x.size(); first += kBatchPairs) {
    scoring.push_back(request("\"op\":\"score\",", sample, first, kBatchPairs));
    learning.push_back(request("\"op\":\"score-and-learn\",", sample, first, kBatchPairs));
  }
  const auto answer = daemon.client().ask(scoring[0]);
  PairResults expected;
  local->score({std::span(sample.x).first(kBatchPairs), std::span(sample.y).first(kBatchPairs), {}},
               expected);
  for (std::size_t i = 0; i < kBatchPairs; i += 17) {
    require_close("the score over the wire", answer["scores"][i].get<double>(), expected.scores[i],
                  1e-3);
  }
  double best_ours = 0;
  double best_local = 0;
  for (int run = 0; run < 5; ++run) {
    best_ours = std::max(best_ours, pipelined_rate(daemon.client(), scoring, kBatchPairs, 8));
    best_local = std::max(best_local, local_rate(*local, sample, false));
  }
  report.add("scored over ipc, against in-process", best_ours / best_local, "of the rate",
             at_least(0.7));
  report.add("scored over ipc", best_ours, "pairs/s");
  double learned_ours = 0;
  double learned_local = 0;
  for (int run = 0; run < 3; ++run) {
    learned_ours =
        std::max(learned_ours, pipelined_rate(daemon.client(), learning, kBatchPairs, 8));
    learned_local = std::max(learned_local, local_rate(*local, sample, true));
  }
  report.add("scored and learned over ipc, against scoring in-process", learned_ours / best_local,
             "of the rate");
  report.add("scored and learned over ipc, against the same in-process",
             learned_ours / learned_local, "of the rate", at_least(0.4));
}

void refresh_stalls(Report& report) {
  report.note("single pairs at half the greatest rate, while models are built and while not");
  LiveDaemon daemon({"refresh-after=never"});
  const auto sample = make_texts(kLearned, 3);
  teach(daemon.client(), sample);
  const auto text = request("\"op\":\"score\",", sample, 7, 1);
  auto client = daemon.connect();
  // As many at a time as paced ones may be under way: more would be scored together, and sooner.
  const double most = pipelined_rate(client, std::vector<std::string>(20000, text), 1, 4);
  std::vector<double> calm;
  std::vector<double> busy;
  std::uint64_t refreshes = 0;
  const auto measure = [&](std::vector<double>& into) {
    const auto more = paced_latencies(client, {text}, most / 2, 2);
    into.insert(into.end(), more.begin(), more.end());
  };
  for (int turn = 0; turn < 3; ++turn) {
    measure(calm);
    std::atomic<bool> goes_on{true};
    std::thread refresher([&] {
      while (goes_on) {
        static_cast<void>(daemon.client().ask(R"({"op":"refresh"})"));
        ++refreshes;
      }
    });
    measure(busy);
    goes_on = false;
    refresher.join();
  }
  report.add("p99 while models are built, against not", quantile(busy, 0.99) / quantile(calm, 0.99),
             "times", at_most(2));
  report.add("p99 without", 1e6 * quantile(calm, 0.99), "us");
  report.add("models built meanwhile", static_cast<double>(refreshes), "models");
  report.add("greatest rate of single pairs", most, "pairs/s");
}

void feed_delay(Report& report) {
  report.note("from ingest to feed, single pairs, 2000 a second");
  LiveDaemon daemon({"refresh-after=never"});
  const auto sample = make_texts(kLearned, 3);
  teach(daemon.client(), sample);
  zmq::socket_t feed(daemon.context(), zmq::socket_type::sub);
  feed.set(zmq::sockopt::rcvtimeo, 10000);
  feed.set(zmq::sockopt::subscribe, "default/score");
  feed.connect(daemon.endpoint("feed"));
  zmq::socket_t ingest(daemon.context(), zmq::socket_type::push);
  ingest.set(zmq::sockopt::linger, 0);
  ingest.connect(daemon.endpoint("ingest"));
  const auto send_one = [&](std::size_t i) {
    const auto row = i % sample.x.size();
    static_cast<void>(ingest.send(zmq::buffer(
        fmt::format(R"({{"x":"{}","y":"{}","id":{}}})", sample.x[row], sample.y[row], i))));
  };
  // Until the subscription is known, nothing is published.
  zmq::message_t frame;
  feed.set(zmq::sockopt::rcvtimeo, 20);
  for (std::size_t i = 0; i < 1000; ++i) {
    send_one(0);
    if (feed.recv(frame)) break;
  }
  while (feed.recv(frame)) {
  }
  feed.set(zmq::sockopt::rcvtimeo, 10000);
  std::vector<double> delays;
  for (std::size_t i = 1; i <= 4000; ++i) {
    const auto began = Clock::now();
    send_one(i);
    do {
      if (!feed.recv(frame)) throw std::runtime_error("a pair did not come back on the feed");
    } while (frame.more());
    delays.push_back(since(began));
    std::this_thread::sleep_until(began + std::chrono::microseconds(500));
  }
  report.add("ingest to feed p50", 1e6 * quantile(delays, 0.5), "us");
  report.add("ingest to feed p99", 1e6 * quantile(delays, 0.99), "us");
}

void daemon_memory(Report& report) {
  report.note("resident memory of a daemon that learns by ingest, hashing 128");
  LiveDaemon daemon({"encoder=hashing:dim=128", "rank=32"});
  const auto sample = make_texts(65536, 4);
  zmq::socket_t ingest(daemon.context(), zmq::socket_type::push);
  ingest.set(zmq::sockopt::linger, 0);
  ingest.connect(daemon.endpoint("ingest"));
  std::vector<std::string> messages;
  for (std::size_t first = 0; first < sample.x.size(); first += 1024) {
    messages.push_back(request("", sample, first, 1024));
  }
  std::size_t sent = 0;
  const auto memory_after = [&](std::uint64_t pairs) {
    for (; sent * 1024 < pairs; ++sent) {
      static_cast<void>(ingest.send(zmq::buffer(messages[sent % messages.size()])));
    }
    while (true) {
      const auto stats = daemon.client().ask(R"({"op":"stats"})");
      const auto& stream = stats["streams"]["default"];
      if (stream["pairs"].get<std::uint64_t>() + stream["refused"].get<std::uint64_t>() >= pairs) {
        return stats["daemon"]["memory"].get<double>();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  };
  const double early = memory_after(100'000);
  const double late = memory_after(5'000'000);
  report.add("memory after 5,000,000 pairs, against after 100,000", late / early, "times",
             at_most(1.05));
  report.add("memory after 5,000,000 pairs", late / (1U << 20U), "MiB");
}

}  // namespace phsic::bench
