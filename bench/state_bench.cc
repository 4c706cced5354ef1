// What it costs to lose nothing.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/wire.h"
#include "engine/stream.h"
#include "state/recovery.h"
#include "state/state_file.h"

namespace phsic::bench {
namespace {

std::unique_ptr<Stream> open_stream(const char* encoder) {
  StreamSpec spec;
  spec.set("encoder", encoder);
  return Stream::open(spec, EncoderPath());
}

std::vector<std::string> journal_of(const std::string& file) {
  std::vector<std::string> entries;
  const StateFile state(file, Database::Access::kRead);
  state.read_journal(1, 0, false, [&](std::uint64_t, std::uint64_t, std::span<const char> entry) {
    entries.emplace_back(entry.begin(), entry.end());
    return true;
  });
  return entries;
}

// The same bytes in as many transactions, and nothing else.
double bare_insert_seconds(const std::string& file, const std::vector<std::string>& entries,
                           std::size_t commits) {
  const Database database(file, Database::Access::kCreate);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("CREATE TABLE journal (key INTEGER PRIMARY KEY, pairs INTEGER, entry BLOB)");
  auto insert = database.prepare("INSERT INTO journal VALUES (?, ?, ?)");
  const auto began = Clock::now();
  for (std::size_t k = 0; k < commits; ++k) {
    const auto first = k * entries.size() / commits;
    const auto last = (k + 1) * entries.size() / commits;
    if (first == last) continue;
    database.transact([&] {
      for (auto i = first; i < last; ++i) {
        insert.bind(1, static_cast<std::int64_t>(i)).bind(2, std::int64_t{1});
        insert.bind_bytes(3, entries[i]).run();
      }
    });
  }
  return since(began);
}

std::uint64_t commits_of(LiveDaemon& daemon) {
  return daemon.client().ask(R"({"op":"stats"})")["daemon"]["state"]["commits"];
}

std::vector<std::string> durable_requests(const TextSample& sample, std::size_t pairs_each,
                                          std::size_t count) {
  std::vector<std::string> requests;
  for (std::size_t i = 0; i < count; ++i) {
    requests.push_back(
        request(R"("op":"learn","promise":"durable",)", sample, i * pairs_each, pairs_each));
  }
  return requests;
}

struct InsertRace {
  double rate = 0;     // pairs a second
  double ratio = 0;    // to bare inserts
  double commits = 0;  // with so many pairs each
};

InsertRace race_inserts(const char* encoder, std::size_t in_flight, const TextSample& sample) {
  constexpr std::size_t kRequests = 6000;
  const auto requests = durable_requests(sample, 1, kRequests);
  InsertRace best;
  for (int run = 0; run < 3; ++run) {
    LiveDaemon daemon(
        {fmt::format("encoder={}", encoder), "refresh-after=never", "refresh=1000000"},
        {"journal=keep", "snapshot-bytes=1GiB"});
    const auto before = commits_of(daemon);
    const double rate = pipelined_rate(daemon.client(), requests, 1, in_flight);
    const auto commits = commits_of(daemon) - before;
    const Folder folder;
    const double seconds =
        bare_insert_seconds(folder.path("bare.db"), journal_of(daemon.state()), commits);
    const double ratio = rate * seconds / kRequests;
    if (ratio > best.ratio) {
      best = {rate, ratio, static_cast<double>(kRequests) / static_cast<double>(commits)};
    }
  }
  return best;
}

void race_inserts(Report& report, const TextSample& sample) {
  for (const std::size_t in_flight : {4, 16, 64}) {
    const auto [rate, ratio, pairs] = race_inserts("hashing:dim=64", in_flight, sample);
    const auto name = fmt::format("durable single pairs, {} under way", in_flight);
    report.add(name + ", against bare inserts", ratio, "of the rate", at_least(0.6));
    report.add(name, rate, "pairs/s");
    report.add(name + ", in a commit", pairs, "pairs");
  }
  // Here to learn a pair takes longer than to insert it.
  const auto usual = race_inserts("hashing", 64, sample);
  report.add("the same, hashing into 1024, against bare inserts", usual.ratio, "of the rate");
  report.add("the same, hashing into 1024", usual.rate, "pairs/s");
}

// Here learning itself is what takes time.
void race_memory(Report& report, const TextSample& sample) {
  LiveDaemon kept({"refresh-after=never", "refresh=1000000"},
                  {"journal=keep", "snapshot-bytes=1GiB"});
  LiveDaemon bare({"refresh-after=never", "refresh=1000000"});
  std::vector<std::string> durable;
  for (std::size_t first = 0; first < 4 * kLearned; first += kBatchPairs) {
    durable.push_back(request("\"op\":\"learn\",\"wait\":true,", sample, first, kBatchPairs));
  }
  double with = 0;
  double without = 0;
  for (int run = 0; run < 3; ++run) {
    with = std::max(with, pipelined_rate(kept.client(), durable, kBatchPairs, 16));
    without = std::max(without, pipelined_rate(bare.client(), durable, kBatchPairs, 16));
  }
  report.add("durable, 256 pairs a request, against learning in memory", with / without,
             "of the rate");
  report.add("durable, 256 pairs a request", with, "pairs/s");
}

// Latencies of scoring while another client learns at a steady rate.
double busy_p99(LiveDaemon& daemon, const TextSample& sample, double rate) {
  teach(daemon.client(), sample);
  auto scorer = daemon.connect();
  std::atomic<bool> goes_on{true};
  std::thread learner([&] {
    auto client = daemon.connect();
    for (std::size_t i = 0; goes_on; ++i) {
      static_cast<void>(client.ask(request(R"("op":"learn","wait":true,)", sample, 16 * i, 16)));
    }
  });
  const auto latencies =
      paced_latencies(scorer, {request("\"op\":\"score\",", sample, 7, 1)}, rate, 4);
  goes_on = false;
  learner.join();
  return quantile(latencies, 0.99);
}

}  // namespace

void durable_learning(Report& report) {
  report.note(
      "durable learns, hashing into 64, against bare SQLite inserts of the same bytes in as many "
      "transactions");
  const auto sample = make_texts(kLearned, 3);
  race_inserts(report, sample);
  race_memory(report, sample);
}

void durable_latency(Report& report) {
  report.note("single pairs scored, 1000 a second, while another client learns 16 pairs at a time");
  const auto sample = make_texts(kLearned, 3);
  LiveDaemon kept({"refresh-after=never", "refresh=1000000"}, {"journal=keep"});
  LiveDaemon bare({"refresh-after=never", "refresh=1000000"});
  const double with = busy_p99(kept, sample, 1000);
  const double without = busy_p99(bare, sample, 1000);
  report.add("p99 of scoring beside durable learning, against learning in memory", with / without,
             "times");
  report.add("p99 of scoring beside durable learning", 1e6 * with, "us");
}

void recovery_speed(Report& report) {
  report.note("a journal without a snapshot, hashing, entries of 256 pairs");
  constexpr std::size_t kPairs = 100'000;
  const auto sample = make_texts(kPairs, 6);
  const Folder folder;
  StateFile file(folder.path("state.db"), Database::Access::kCreate);
  auto stream = open_stream("hashing");
  EntryPlace place;
  file.transact([&] {
    place.stream = file.put_stream("default", identity_text(stream->identity()), "{}");
    EntryPairs pairs;
    for (std::size_t i = 0; i < kPairs; ++i) {
      pairs.add(sample.x[i], sample.y[i], static_cast<double>(i), kNoId);
      if (pairs.size() < kBatchPairs && i + 1 < kPairs) continue;
      ++place.number;
      file.append(place.stream, place.number, pairs.size(), seal_pairs(place, pairs));
      place.pairs += pairs.size();
      pairs.clear();
    }
  });
  const auto began = Clock::now();
  const auto recovery = recover(file, "default", *stream, 0);
  const double seconds = since(began);
  require_close("pairs recovered", static_cast<double>(stream->pairs()), kPairs, 0);
  report.add("recovery of a million pairs", seconds * 1e6 / kPairs, "s");
}

void snapshot_cost(Report& report) {
  report.note("dense 1024, 4096 pairs in the sample");
  constexpr std::size_t kDim = 1024;
  const Folder folder;
  StateFile file(folder.path("state.db"), Database::Access::kCreate);
  auto stream = open_stream("vectors:dim=1024");
  Random random(9);
  std::vector<float> x(kBatchPairs * kDim);
  std::vector<float> y(kBatchPairs * kDim);
  Batch batch;
  for (int block = 0; block < 24; ++block) {
    for (auto& value : x) value = static_cast<float>(random.normal());
    for (auto& value : y) value = static_cast<float>(random.normal());
    stream->take({x.data(), kBatchPairs, kDim}, {y.data(), kBatchPairs, kDim}, batch);
    LearnBatch learn_batch;
    learn_batch.x = batch.x.view();
    learn_batch.y = batch.y.view();
    stream->learn(learn_batch, 0, false);
  }
  const auto refresh = stream->freeze(Stream::Extent::kWithoutHeldBack);
  refresh->build();
  stream->adopt(*refresh);
  const auto id = file.put_stream("default", identity_text(stream->identity()), "{}");
  auto began = Clock::now();
  const auto state = stream->state();
  report.add("a copy of what was learned", 1e3 * since(began), "ms");
  began = Clock::now();
  const auto bytes = seal_snapshot({id, 0, stream->pairs()}, ServingState(0), *state);
  report.add("made into bytes", 1e3 * since(began), "ms");
  began = Clock::now();
  file.transact([&] { file.put_snapshot(id, 0, stream->pairs(), bytes, {}); });
  report.add("written", 1e3 * since(began), "ms");
  report.add("size", static_cast<double>(bytes.size()) / (1U << 20U), "MiB");
}

namespace {

// One after the other, each of something new. Returns how many.
std::uint64_t take_snapshots(WireClient& client, const Frames& learn_batch,
                             const std::atomic<bool>& goes_on) {
  std::uint64_t taken = 0;
  for (; goes_on; ++taken) {
    send(client, learn_batch);
    require_ok(client.receive());
    static_cast<void>(client.ask(R"({"op":"snapshot"})"));
  }
  return taken;
}

void learn_vectors(WireClient& client, std::size_t dim, Random& random) {
  for (int i = 0; i < 12; ++i) {
    send(client, vectors("learn", 512, dim, random));
    require_ok(client.receive());
  }
  static_cast<void>(client.ask(R"({"op":"refresh","all":true})"));
}

}  // namespace

void snapshot_stalls(Report& report) {
  report.note("single pairs of vectors of 1024, 500 a second, during snapshots and without");
  constexpr std::size_t kDim = 1024;
  LiveDaemon daemon({"encoder=vectors:dim=1024", "refresh-after=never", "refresh=1000000"},
                    {"message-bytes=64MiB"});
  Random random(5);
  learn_vectors(daemon.client(), kDim, random);
  const auto one = vectors("score", 1, kDim, random);
  const auto learn_batch = vectors("learn", 1, kDim, random);
  auto client = daemon.connect();
  std::vector<double> calm;
  std::vector<double> busy;
  std::uint64_t snapshots = 0;
  const auto measure = [&](std::vector<double>& into) {
    const auto more = paced_latencies(client, one, 500, 2);
    into.insert(into.end(), more.begin(), more.end());
  };
  for (int turn = 0; turn < 8; ++turn) {
    measure(calm);
    std::atomic<bool> goes_on{true};
    std::thread state_writer(
        [&] { snapshots += take_snapshots(daemon.client(), learn_batch, goes_on); });
    measure(busy);
    goes_on = false;
    state_writer.join();
  }
  report.add("p99 during snapshots, against without", quantile(busy, 0.99) / quantile(calm, 0.99),
             "times");
  report.add("p99 without", 1e6 * quantile(calm, 0.99), "us");
  report.add("p99 during snapshots", 1e6 * quantile(busy, 0.99), "us");
  report.add("snapshots meanwhile", static_cast<double>(snapshots), "snapshots");
}

// What is learned must be on the disk meanwhile, and old snapshots go.
void durable_stalls(Report& report) {
  report.note("durable single pairs of vectors of 1024, 100 a second, during snapshots");
  constexpr std::size_t kDim = 1024;
  LiveDaemon daemon({"encoder=vectors:dim=1024", "refresh-after=never", "refresh=1000000"},
                    {"message-bytes=64MiB", "snapshots=1"});
  Random random(5);
  learn_vectors(daemon.client(), kDim, random);
  const auto learn_batch = vectors("learn", 1, kDim, random);
  auto client = daemon.connect();
  const auto calm = paced_latencies(client, learn_batch, 100, 5);
  std::atomic<bool> goes_on{true};
  std::uint64_t snapshots = 0;
  std::thread state_writer(
      [&] { snapshots = take_snapshots(daemon.client(), learn_batch, goes_on); });
  const auto busy = paced_latencies(client, learn_batch, 100, 10);
  goes_on = false;
  state_writer.join();
  report.add("p99 of durable learning without snapshots", 1e3 * quantile(calm, 0.99), "ms");
  report.add("p99 of durable learning during snapshots", 1e3 * quantile(busy, 0.99), "ms");
  report.add("the longest", 1e3 * quantile(busy, 1), "ms");
  report.add("snapshots during durable learning", static_cast<double>(snapshots), "snapshots");
}

}  // namespace phsic::bench
