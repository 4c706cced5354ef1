#include "cli/client/remote_session.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "cli/client/result_reader.h"
#include "cli/client/same_options.h"

namespace phsic {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();
// Pairs that are scored alone go in smaller parts, so that all of the daemon's workers get some.
constexpr std::size_t kScoredPairs = 1024;

// A pair that cannot be sent.
void refuse_pair(PairResults& results, std::size_t row, std::string why) {
  if (!results.decisions.empty()) {
    results.decisions[row] = {Verdict::kUndecided, reasons::kUnscored};
  }
  results.problems.push_back({row, std::move(why)});
}

}  // namespace

class RemoteSession::Loan {
 public:
  explicit Loan(const RemoteSession& session) : session_(session), client_(take()) {
    if (!client_) {
      client_ = std::make_unique<Client>(session.daemon_.endpoint, session.daemon_.patience());
    }
  }
  ~Loan() {
    const std::lock_guard lock(session_.mutex_);
    session_.idle_.push_back(std::move(client_));
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  Loan(Loan&&) = delete;
  Loan& operator=(Loan&&) = delete;

  Client* operator->() const { return client_.get(); }

 private:
  std::unique_ptr<Client> take() {
    const std::lock_guard lock(session_.mutex_);
    if (session_.idle_.empty()) return nullptr;
    auto client = std::move(session_.idle_.back());
    session_.idle_.pop_back();
    return client;
  }

  const RemoteSession& session_;
  std::unique_ptr<Client> client_;
};

RemoteSession::RemoteSession(const ConnectArguments& daemon, bool learns) : daemon_(daemon) {
  const Loan client(*this);
  const auto streams = client->ask(RequestWriter("streams", ""));
  limits_ = read_limits(streams.root());
  stream_ = choose_stream(read_streams(streams.root()), daemon.stream, daemon.endpoint);
  plan_ = plan_of(stream_);
  if (!learns) return;
  RequestWriter request("learn", stream_.name);
  request.add_no_pairs();
  request.add_true("wait");
  take_until_refresh(client->ask(request, Patience::kLong).root());
}

void RemoteSession::score(const TextPairs& pairs, PairResults& results) {
  results.reset(pairs.x.size());
  auto& problems = results.problems;
  struct Part {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  const RequestLimits limits{std::min(kScoredPairs, limits_.pairs), limits_.bytes};
  std::vector<RequestWriter> requests;
  std::vector<Part> parts;
  for (std::size_t first = 0; first < pairs.x.size();) {
    RequestWriter request("score", stream_.name);
    const auto count = request.add_pairs(pairs, {}, first, limits);
    if (count == 0) {
      refuse_pair(results, first, limits_.too_large("pair"));
    } else {
      requests.push_back(std::move(request));
      parts.push_back({first, count});
    }
    first += std::max<std::size_t>(count, 1);
  }
  const Loan client(*this);
  client->ask_all(requests, Patience::kShort, [&](std::size_t number, const Message& answer) {
    const auto [first, count] = parts[number];
    read_results(answer.root(), first, count, results);
  });
  std::sort(problems.begin(), problems.end(),
            [](const auto& a, const auto& b) { return a.row < b.row; });
}

void RemoteSession::learn(const TextPairs& pairs, std::vector<PairProblem>& problems) {
  problems.clear();
  ask_in_order("learn", pairs, nullptr, problems);
}

void RemoteSession::score_then_learn(const TextPairs& pairs, PairResults& results) {
  results.reset(pairs.x.size());
  ask_in_order("score-and-learn", pairs, &results, results.problems);
}

void RemoteSession::ask_in_order(std::string_view op, const TextPairs& pairs, PairResults* results,
                                 std::vector<PairProblem>& problems) {
  const Loan client(*this);
  for (std::size_t first = 0; first < pairs.x.size();) {
    RequestWriter request(op, stream_.name);
    const auto count = request.add_pairs(pairs, {}, first, limits_);
    if (count == 0) {
      if (results != nullptr) {
        refuse_pair(*results, first, limits_.too_large("pair"));
      } else {
        problems.push_back({first, limits_.too_large("pair")});
      }
      ++first;
      continue;
    }
    request.add_true("wait");
    const auto answer = client->ask(request, Patience::kLong);
    if (results != nullptr) {
      read_results(answer.root(), first, count, *results);
    } else {
      read_problems(answer.root(), first, count, problems);
    }
    take_until_refresh(answer.root());
    first += count;
  }
}

// A stream without models has no end.
void RemoteSession::take_until_refresh(const JsonObject& answer) {
  auto left = answer.find_count("until_refresh");
  if (!left) left = answer.find_count("room");  // of a daemon up to 0.1
  until_refresh_ = std::max<std::size_t>(left.value_or(std::numeric_limits<std::size_t>::max()), 1);
}

void RemoteSession::finish() {
  const Loan client(*this);
  RequestWriter request("refresh", stream_.name);
  request.add_true("all");
  // What it tells is asked for by facts().
  static_cast<void>(client->ask(request, Patience::kLong));
}

void RemoteSession::rank(std::string_view x, std::span<const std::string_view> candidates,
                         double* scores, std::vector<PairProblem>& problems,
                         std::vector<LeftOut>& left_out) const {
  problems.clear();
  left_out.clear();
  const Loan client(*this);
  for (std::size_t first = 0; first < candidates.size();) {
    RequestWriter request("rank", stream_.name);
    request.add_text("x", x);
    const auto count = request.add_texts("candidates", candidates, first, limits_);
    if (count == 0) {
      scores[first] = kNoScore;
      problems.push_back({first++, limits_.too_large("candidate, with its context,")});
      continue;
    }
    const auto answer = client->ask(request);
    read_scores(answer.root(), first, count, scores + first, problems);
    read_left_out(answer.root(), first, count, left_out);
    first += count;
  }
}

Message RemoteSession::stats(bool calibration) const {
  RequestWriter request("stats", stream_.name);
  if (calibration) request.add_true("calibration");
  return Loan(*this)->ask(request);
}

StreamFacts RemoteSession::facts() const {
  const auto answer = stats(false);
  return read_facts(stats_of_stream(answer.root(), stream_.name));
}

const Calibration& RemoteSession::calibration() const {
  const auto present = stats(false);
  const auto model = stats_of_stream(present.root(), stream_.name).find_count("model");
  if (calibrated_model_ && calibrated_model_ == model) return calibration_;
  const auto answer = stats(true);
  const auto of_stream = stats_of_stream(answer.root(), stream_.name);
  calibration_ = read_calibration(answer.root(), of_stream);
  calibrated_model_ = of_stream.find_count("model");
  return calibration_;
}

}  // namespace phsic
