// What waits to be scored in a lane: bounded, fair between clients, scoring before learning.
//
// Each client's requests are served in its own order. Clients share by cost, which is bytes and
// rows, and not by requests: whoever would be done first if all were served at once is next
// (weighted fair queueing: Demers, Keshav and Shenker, 1989). So a client with little to do does
// not wait until those with much have had a turn.
//
// A request whose client waits for scores comes before those that only teach; but of the cost of
// what is taken while both wait, teaching gets a share. Otherwise a daemon that is always asked
// would never learn.
//
// Room is shared by dynamic thresholds (Choudhury and Hahne, 1998): a client may fill as much as is
// still free, so that one that floods the queue gets half of it and never all. The loop's thread
// offers, workers take.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/serving/amount.h"
#include "daemon/serving/task.h"

namespace phsic {

class FairQueue {
 public:
  // `learn_share` is what teaching gets while scoring waits: 0 (nothing) to below 1.
  FairQueue(Amount limits, double learn_share) : limits_(limits), learn_share_(learn_share) {}

  void set_limits(Amount limits, double learn_share);
  // False: the client has as much in the queue as it may. What is larger than the queue is taken
  // when there is nothing else in it. Nothing has happened if it throws.
  [[nodiscard]] bool offer(const std::shared_ptr<Task>& task);
  // Takes a task in, whatever the limits. REQUIRES: not closed.
  void push(const std::shared_ptr<Task>& task);

  // Waits for work and takes up to `most` of it, one row at least: several tasks, or a part of a
  // large one. Tasks that learn get consecutive tickets, one for a call (see sequence_stage.h).
  // False: closed, and nothing is left. Allocates nothing if `taken` has room for most.pairs
  // slices.
  struct Taken {
    std::vector<Slice> slices;
    bool learns = false;
    std::uint64_t ticket = 0;
  };
  [[nodiscard]] bool take(Taken& taken, Amount most);
  // The same, but takes nothing when the deadline or a wake() comes first.
  [[nodiscard]] bool take(Taken& taken, Amount most,
                          std::chrono::steady_clock::time_point deadline);
  // Ends the wait of whoever takes with a deadline.
  void wake();

  // Offers are refused from now on; what is there is still taken.
  void close();

  // What waits.
  [[nodiscard]] Amount depth() const;

 private:
  struct Waiting {
    std::shared_ptr<Task> task;
    std::uint64_t bytes = 0;
  };
  struct Client {
    std::deque<Waiting> tasks;
    std::size_t next_row = 0;  // of the first task
    std::uint64_t pairs = 0;
    std::uint64_t bytes = 0;
    double served = 0;          // the virtual time that its last turn ends at
    double finish = 0;          // ... that its next turn will end at
    std::uint64_t arrival = 0;  // of two with the same finish, the earlier is first
  };
  struct BeforeOther {
    bool operator()(const Client* a, const Client* b) const {
      return a->finish != b->finish ? a->finish < b->finish : a->arrival < b->arrival;
    }
  };
  using Line = std::set<Client*, BeforeOther>;

  [[nodiscard]] bool is_filled() const { return closed_ || !urgent_.empty() || !teaching_.empty(); }
  bool take_filled(Taken& taken, Amount most);
  void append(const std::shared_ptr<Task>& task);
  [[nodiscard]] Line& line_of(const Client& client);
  void prepare_turn(Client& client);
  [[nodiscard]] bool is_turn_of_teaching() const;
  double take_from(Line& line, Amount& room, Taken& taken);
  void pop_task(Client& client);
  void settle_share(bool teaching, bool both, double cost);
  void forget_idle();

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable filled_;
  Amount limits_;
  double learn_share_;
  Amount depth_;
  // With tasks, or served not long ago: a client that sends one request after the other is
  // remembered between them.
  std::unordered_map<std::string, Client> clients_;
  std::size_t remembered_ = 0;  // clients after the last look at who can be forgotten
  Line urgent_;                 // clients whose next task is urgent, the first in line is next
  Line teaching_;
  double now_ = 0;   // virtual time: cost served for each client that waited
  double owed_ = 0;  // cost that teaching may take before scoring
  std::uint64_t arrivals_ = 0;
  std::uint64_t next_ticket_ = 0;
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace phsic
