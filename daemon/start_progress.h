// How far a start, or a reload, has come, and whether it is to go on. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace phsic {

class StartProgress {
 public:
  struct Step {
    std::string doing = "opening";
    std::string stream;
    std::uint64_t pairs = 0;  // learned again
    std::uint64_t of = 0;     // 0: there are none, or it is not known yet
    std::uint64_t steps = 0;  // grows whenever there is progress

    [[nodiscard]] std::string to_string() const;
  };

  // Both throw an Interrupted once cancel() has been called.
  void begin(std::string doing, std::string stream = {});
  void note(std::uint64_t pairs, std::uint64_t of);
  void cancel();

  [[nodiscard]] Step step() const;

 private:
  mutable std::mutex mutex_;  // guards all of it
  Step step_;
  bool is_cancelled_ = false;
};

}  // namespace phsic
