#include "daemon/fair_queue.h"

#include <algorithm>

namespace phsic {
namespace {

// A job without rows still takes its turn.
std::uint64_t pairs_of(const Job& job) { return std::max<std::uint64_t>(1, job.pairs.size()); }

bool is_urgent(const Job& job) { return job.scores && !job.client.empty(); }

}  // namespace

void FairQueue::set_limits(Limits limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

bool FairQueue::offer(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    const auto pairs = pairs_of(*job);
    const auto bytes = job->pairs.byte_count();
    const auto found = by_name_.find(job->client);
    const auto own_pairs = found == by_name_.end() ? 0 : found->second->pairs;
    const auto own_bytes = found == by_name_.end() ? 0 : found->second->bytes;
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
  const auto bytes = job->pairs.byte_count();
  if (!by_name_.contains(job->client)) {
    clients_.push_back({job->client, {}, 0, 0, 0});
    by_name_[job->client] = std::prev(clients_.end());
  }
  auto& client = *by_name_[job->client];
  client.jobs.push_back(job);
  client.pairs += pairs;
  client.bytes += bytes;
  depth_.pairs += pairs;
  depth_.bytes += bytes;
}

// Rounds of one turn for each client whose next job is urgent, or for each whose next is not, until
// there are `most` rows or no more such jobs. False: there were none.
bool FairQueue::take_turns(Taken& taken, std::size_t most, bool urgent) {
  std::size_t rows = 0;
  for (bool took = true; took && rows < most;) {
    took = false;
    for (std::size_t turns = clients_.size(); turns > 0 && rows < most; --turns) {
      // Each goes to the end, whether it is its turn or not.
      clients_.splice(clients_.end(), clients_, clients_.begin());
      if (is_urgent(*clients_.back().jobs.front()) != urgent) continue;
      rows += take_from(clients_.back(), most - rows, taken);
      took = true;
    }
  }
  return !taken.slices.empty();
}

// Takes up to `most` rows of the client's next job, and the client out of the list with its last.
// Returns how many; a job without any counts as one. REQUIRES: it is the last in the list.
std::size_t FairQueue::take_from(Client& client, std::size_t most, Taken& taken) {
  const auto job = client.jobs.front();
  const auto count = std::min(job->pairs.size() - client.next_row, most);
  const auto rows = std::max<std::size_t>(1, count);
  taken.slices.push_back({job, client.next_row, count});
  taken.learns = taken.learns || job->learns || job->operation == Operation::kRefresh ||
                 job->operation == Operation::kSnapshot;
  client.next_row += count;
  client.pairs -= rows;
  depth_.pairs -= rows;
  if (client.next_row < job->pairs.size()) return rows;
  client.bytes -= job->pairs.byte_count();
  depth_.bytes -= job->pairs.byte_count();
  client.next_row = 0;
  client.jobs.pop_front();
  if (client.jobs.empty()) {
    by_name_.erase(client.name);
    clients_.pop_back();
  }
  return rows;
}

bool FairQueue::take(Taken& taken, std::size_t most) {
  taken.slices.clear();
  taken.learns = false;
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [&] { return closed_ || !clients_.empty(); });
  // What only teaches waits until nobody waits for a score.
  const bool took = take_turns(taken, most, true) || take_turns(taken, most, false);
  if (taken.learns) taken.ticket = next_ticket_++;
  return took;
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
