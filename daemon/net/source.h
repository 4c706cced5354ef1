// A way in for pairs whose scores nobody waits for.
//
// A source hands what it reads to the handler. When there is no room it keeps what it has read, and
// reads on when there is room again; until then the sender is held up. It is told when what it
// brought has been learned, durably where the request says so, and can acknowledge that. Belongs to
// the loop's thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phsic {

class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  Source(Source&&) = delete;
  Source& operator=(Source&&) = delete;

  struct Counts {
    std::uint64_t messages = 0;
    std::uint64_t bad = 0;
    std::uint64_t passed_over = 0;  // of other daemons' feeds, not to be learned
    std::uint64_t stalled = 0;      // how often it had to wait for room
  };

  // From now on it reads.
  virtual void start() = 0;
  // Reads no more, and hands over what it has read.
  virtual void stop() = 0;
  virtual void close() = 0;

  // Where anybody can send pairs of any stream; empty where not.
  [[nodiscard]] virtual std::vector<std::string> public_endpoints() const = 0;
  [[nodiscard]] const Counts& counts() const { return counts_; }

 protected:
  Counts counts_;
};

}  // namespace phsic
