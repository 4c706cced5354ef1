// What waits to be scored in a lane: bounded, fair between clients, scoring before learning.
//
// Each client's requests are served in its own order, and clients take turns. A request whose
// client waits for scores comes before those that only teach. Room is shared by dynamic thresholds
// (Choudhury and Hahne, 1998): a client may fill as much as is still free, so that one that floods
// the queue gets half of it and never all. The I/O thread offers, workers take.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/job.h"

namespace phsic {

// Some rows of a job.
struct Slice {
  std::shared_ptr<Job> job;
  std::size_t first = 0;
  std::size_t count = 0;
};

class FairQueue {
 public:
  struct Limits {
    std::uint64_t pairs = 0;
    std::uint64_t bytes = 0;
  };

  explicit FairQueue(Limits limits) : limits_(limits) {}

  void set_limits(Limits limits);
  // False: the client has as much in the queue as it may. What is larger than the queue is taken
  // when there is nothing else in it.
  [[nodiscard]] bool offer(const std::shared_ptr<Job>& job);
  // Whatever the limits. REQUIRES: not closed.
  void push(const std::shared_ptr<Job>& job);

  // Waits for work and takes up to `most` rows of it: several jobs, or a part of a large one. Jobs
  // that learn get consecutive tickets, one for a call (see intake.h). False: closed, and nothing
  // is left.
  struct Taken {
    std::vector<Slice> slices;
    bool learns = false;
    std::uint64_t ticket = 0;
  };
  [[nodiscard]] bool take(Taken& taken, std::size_t most);

  // Offers are refused from now on; what is there is still taken.
  void close();

  struct Depth {
    std::uint64_t pairs = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Depth depth() const;

 private:
  struct Client {
    std::string name;
    std::deque<std::shared_ptr<Job>> jobs;
    std::size_t next_row = 0;  // of the first job
    std::uint64_t pairs = 0;
    std::uint64_t bytes = 0;
  };

  void append(const std::shared_ptr<Job>& job);
  [[nodiscard]] bool take_turns(Taken& taken, std::size_t most, bool urgent);
  std::size_t take_from(Client& client, std::size_t most, Taken& taken);

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable filled_;
  Limits limits_;
  Depth depth_;
  std::list<Client> clients_;  // with jobs; the first is next
  std::unordered_map<std::string, std::list<Client>::iterator> by_name_;
  std::uint64_t next_ticket_ = 0;
  bool closed_ = false;
};

}  // namespace phsic
