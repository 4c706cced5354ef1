#include "daemon/serving/fair_queue.h"

#include <algorithm>
#include <utility>

namespace phsic {
namespace {

// A row costs its bytes and this: a short text is not for nothing.
constexpr double kRowCost = 256;
// A client's turn. What is longer is done in several.
constexpr double kTurnCost = 64U << 10U;
// Clients that may wait to be forgotten.
constexpr std::size_t kFewClients = 64;

// A job without rows still takes its turn.
std::uint64_t pairs_of(const Job& job) { return std::max<std::uint64_t>(1, job.pairs.size()); }

bool is_urgent(const Job& job) { return job.scores && !job.client.empty(); }

// Some rows of a job, and their bytes.
struct Piece {
  std::size_t rows = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] double cost() const {
    return static_cast<double>(bytes) +
           kRowCost * static_cast<double>(std::max<std::size_t>(1, rows));
  }
};

// The rows from `first` on that fit, one at least if it `must`.
Piece piece_of(const Job& job, std::size_t first, FairQueue::Limits room, bool must) {
  const auto& pairs = job.pairs;
  Piece piece{0, pairs.shared_bytes()};
  const auto left = std::min<std::uint64_t>(pairs.size() - first, room.pairs);
  for (; piece.rows < left; ++piece.rows) {
    const auto bytes = pairs.row_bytes(first + piece.rows);
    if (piece.bytes + bytes > room.bytes && !(must && piece.rows == 0)) break;
    piece.bytes += bytes;
  }
  return piece;
}

// Of the rows from `first` on, as many as are a turn.
double cost_of_turn(const Job& job, std::size_t first) {
  const auto& pairs = job.pairs;
  double cost = static_cast<double>(pairs.shared_bytes()) + (pairs.size() == 0 ? kRowCost : 0);
  for (; first < pairs.size() && cost < kTurnCost; ++first) {
    cost += kRowCost + static_cast<double>(pairs.row_bytes(first));
  }
  return cost;
}

}  // namespace

void FairQueue::set_limits(Limits limits, double learn_share) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
  learn_share_ = learn_share;
  owed_ = 0;
}

bool FairQueue::offer(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    const auto pairs = pairs_of(*job);
    const auto bytes = job->byte_count();
    const auto found = clients_.find(job->client);
    const auto own_pairs = found == clients_.end() ? 0 : found->second.pairs;
    const auto own_bytes = found == clients_.end() ? 0 : found->second.bytes;
    const auto fits = [](std::uint64_t own, std::uint64_t more, std::uint64_t used,
                         std::uint64_t limit) {
      return used < limit && own + more <= limit - used;
    };
    if (depth_.pairs > 0 && !(fits(own_pairs, pairs, depth_.pairs, limits_.pairs) &&
                              fits(own_bytes, bytes, depth_.bytes, limits_.bytes))) {
      return false;
    }
    append(job);
  }
  filled_.notify_one();
  return true;
}

void FairQueue::push(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    append(job);
  }
  filled_.notify_one();
}

// REQUIRES: mutex_ is held.
void FairQueue::append(const std::shared_ptr<Job>& job) {
  const auto pairs = pairs_of(*job);
  const auto bytes = job->byte_count();
  auto& client = clients_[job->client];
  client.jobs.push_back({job, bytes});
  if (client.jobs.size() == 1) {
    client.arrival = arrivals_++;
    prepare_turn(client);
    try {
      line_of(client).insert(&client);
    } catch (...) {
      client.jobs.clear();
      throw;
    }
  }
  client.pairs += pairs;
  client.bytes += bytes;
  depth_.pairs += pairs;
  depth_.bytes += bytes;
}

// Where a client with jobs belongs.
FairQueue::Line& FairQueue::line_of(const Client& client) {
  return is_urgent(*client.jobs.front().job) ? urgent_ : teaching_;
}

// When its next turn will end. REQUIRES: it is in no line.
void FairQueue::prepare_turn(Client& client) {
  client.finish =
      std::max(now_, client.served) + cost_of_turn(*client.jobs.front().job, client.next_row);
}

// Takes what fits of the next client's next job. Returns its cost, 0 if nothing fits.
double FairQueue::take_from(Line& line, Limits& room, Taken& taken) {
  auto& client = **line.begin();
  const auto job = client.jobs.front().job;
  const auto piece = piece_of(*job, client.next_row, room, taken.slices.empty());
  if (piece.rows == 0 && job->pairs.size() > 0) return 0;
  taken.slices.push_back({job, client.next_row, piece.rows});
  taken.learns = taken.learns || job->learns || job->operation == Operation::kRefresh ||
                 job->operation == Operation::kSnapshot;
  const auto rows = std::max<std::size_t>(1, piece.rows);
  client.next_row += piece.rows;
  client.pairs -= rows;
  depth_.pairs -= rows;
  room.pairs -= rows;
  room.bytes -= std::min(room.bytes, piece.bytes);
  client.served = std::max(now_, client.served) + piece.cost();
  now_ += piece.cost() / static_cast<double>(urgent_.size() + teaching_.size());
  // The node goes with the client, so that nothing is allocated.
  auto node = line.extract(line.begin());
  if (client.next_row >= job->pairs.size()) pop_job(client);
  if (client.jobs.empty()) return piece.cost();
  prepare_turn(client);
  line_of(client).insert(std::move(node));
  return piece.cost();
}

void FairQueue::pop_job(Client& client) {
  client.bytes -= client.jobs.front().bytes;
  depth_.bytes -= client.jobs.front().bytes;
  client.next_row = 0;
  client.jobs.pop_front();
}

bool FairQueue::is_turn_of_teaching() const {
  if (urgent_.empty() || teaching_.empty()) return urgent_.empty();
  return owed_ > 0;
}

// Notes what a batch cost. While both waited, teaching gets its share of the sum: it is owed its
// part of what scoring took, less the rest of what it took itself.
void FairQueue::settle_share(bool teaching, bool both, double cost) {
  if (!teaching) {
    owed_ += learn_share_ * cost;
    // Who does not wait saves nothing up.
    if (!both) owed_ = std::min(owed_, 0.0);
  } else if (both) {
    owed_ -= (1 - learn_share_) * cost;
  }
}

// Clients without jobs that would not wait any longer for what they had.
void FairQueue::forget_idle() {
  if (urgent_.empty() && teaching_.empty()) {
    clients_.clear();
    now_ = 0;
    remembered_ = 0;
    return;
  }
  if (clients_.size() <= 2 * remembered_ + kFewClients) return;
  std::erase_if(clients_, [&](const auto& entry) {
    return entry.second.jobs.empty() && entry.second.served <= now_;
  });
  remembered_ = clients_.size();
}

bool FairQueue::take(Taken& taken, Limits most) {
  taken.slices.clear();
  taken.learns = false;
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [&] { return closed_ || !urgent_.empty() || !teaching_.empty(); });
  const bool teaching = is_turn_of_teaching();
  const bool both = !urgent_.empty() && !teaching_.empty();
  auto& line = teaching ? teaching_ : urgent_;
  double cost = 0;
  while (!line.empty() && most.pairs > 0) {
    const auto more = take_from(line, most, taken);
    if (more == 0) break;
    cost += more;
  }
  settle_share(teaching, both, cost);
  forget_idle();
  if (taken.learns) taken.ticket = next_ticket_++;
  // An offer wakes one worker, which may leave work for others.
  if (!urgent_.empty() || !teaching_.empty()) filled_.notify_one();
  return !taken.slices.empty();
}

void FairQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_all();
}

FairQueue::Depth FairQueue::depth() const {
  const std::lock_guard lock(mutex_);
  return depth_;
}

}  // namespace phsic
