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

// A task without rows still takes its turn.
std::uint64_t pairs_of(const Task& task) {
  return std::max<std::uint64_t>(1, task.request.pairs.size());
}

bool is_urgent(const Task& task) { return task.request.scores && !task.caller->is_source(); }

// Some rows of a task, and their bytes.
struct Piece {
  std::size_t rows = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] double cost() const {
    return static_cast<double>(bytes) +
           kRowCost * static_cast<double>(std::max<std::size_t>(1, rows));
  }
};

// The rows from `first` on that fit, one at least if it `must`.
Piece piece_of(const Task& task, std::size_t first, Amount room, bool must) {
  const auto& pairs = task.request.pairs;
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
double cost_of_turn(const Task& task, std::size_t first) {
  const auto& pairs = task.request.pairs;
  double cost = static_cast<double>(pairs.shared_bytes()) + (pairs.size() == 0 ? kRowCost : 0);
  for (; first < pairs.size() && cost < kTurnCost; ++first) {
    cost += kRowCost + static_cast<double>(pairs.row_bytes(first));
  }
  return cost;
}

}  // namespace

void FairQueue::set_limits(Amount limits, double learn_share) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
  learn_share_ = learn_share;
  owed_ = 0;
}

bool FairQueue::offer(const std::shared_ptr<Task>& task) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    const auto pairs = pairs_of(*task);
    const auto bytes = task->byte_count();
    const auto found = clients_.find(task->caller->name());
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
    append(task);
  }
  filled_.notify_one();
  return true;
}

void FairQueue::push(const std::shared_ptr<Task>& task) {
  {
    const std::lock_guard lock(mutex_);
    append(task);
  }
  filled_.notify_one();
}

// REQUIRES: mutex_ is held.
void FairQueue::append(const std::shared_ptr<Task>& task) {
  const auto pairs = pairs_of(*task);
  const auto bytes = task->byte_count();
  auto& client = clients_[task->caller->name()];
  client.tasks.push_back({task, bytes});
  if (client.tasks.size() == 1) {
    client.arrival = arrivals_++;
    prepare_turn(client);
    try {
      line_of(client).insert(&client);
    } catch (...) {
      client.tasks.clear();
      throw;
    }
  }
  client.pairs += pairs;
  client.bytes += bytes;
  depth_.pairs += pairs;
  depth_.bytes += bytes;
}

// Where a client with tasks belongs.
FairQueue::Line& FairQueue::line_of(const Client& client) {
  return is_urgent(*client.tasks.front().task) ? urgent_ : teaching_;
}

// When its next turn will end. REQUIRES: it is in no line.
void FairQueue::prepare_turn(Client& client) {
  client.finish =
      std::max(now_, client.served) + cost_of_turn(*client.tasks.front().task, client.next_row);
}

// Takes what fits of the next client's next task. Returns its cost, 0 if nothing fits.
double FairQueue::take_from(Line& line, Amount& room, Taken& taken) {
  auto& client = **line.begin();
  const auto task = client.tasks.front().task;
  const auto piece = piece_of(*task, client.next_row, room, taken.slices.empty());
  if (piece.rows == 0 && task->request.pairs.size() > 0) return 0;
  taken.slices.push_back({task, client.next_row, piece.rows});
  taken.learns = taken.learns || task->request.learns || task->request.is_order();
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
  if (client.next_row >= task->request.pairs.size()) pop_task(client);
  if (client.tasks.empty()) return piece.cost();
  prepare_turn(client);
  line_of(client).insert(std::move(node));
  return piece.cost();
}

void FairQueue::pop_task(Client& client) {
  client.bytes -= client.tasks.front().bytes;
  depth_.bytes -= client.tasks.front().bytes;
  client.next_row = 0;
  client.tasks.pop_front();
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

// Clients without tasks that would not wait any longer for what they had.
void FairQueue::forget_idle() {
  if (urgent_.empty() && teaching_.empty()) {
    clients_.clear();
    now_ = 0;
    remembered_ = 0;
    return;
  }
  if (clients_.size() <= 2 * remembered_ + kFewClients) return;
  std::erase_if(clients_, [&](const auto& entry) {
    return entry.second.tasks.empty() && entry.second.served <= now_;
  });
  remembered_ = clients_.size();
}

bool FairQueue::take(Taken& taken, Amount most) {
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [&] { return is_filled(); });
  return take_filled(taken, most);
}

bool FairQueue::take(Taken& taken, Amount most, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, deadline, [&] { return woken_ || is_filled(); });
  woken_ = false;
  const bool is_over = closed_ && urgent_.empty() && teaching_.empty();
  return take_filled(taken, most) || !is_over;
}

void FairQueue::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  filled_.notify_one();
}

// REQUIRES: mutex_ is held.
bool FairQueue::take_filled(Taken& taken, Amount most) {
  taken.slices.clear();
  taken.learns = false;
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

Amount FairQueue::depth() const {
  const std::lock_guard lock(mutex_);
  return depth_;
}

}  // namespace phsic
