// A line that tells how far a run is, for someone who watches a terminal.
//
// Nothing is ever written if the stream is no terminal. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>

namespace phsic {

class Progress {
 public:
  // Seconds since whenever.
  using Clock = std::function<double()>;

  // On standard error, if that is a terminal.
  Progress();
  // The stream must outlive the progress.
  Progress(std::ostream& stream, bool is_terminal, Clock clock);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;

  // So many lines are done, and so many bytes of the file, whose size may be known. Shows it at
  // most ten times a second, so it may be called often.
  void update(std::uint64_t lines, std::uint64_t bytes, std::optional<std::uint64_t> size);
  // Takes the line away, before anything else is written to the terminal. update() brings it back.
  void erase();

 private:
  std::ostream& stream_;
  bool is_terminal_;
  Clock clock_;
  double start_;
  double shown_;  // when
  bool visible_ = false;
};

}  // namespace phsic
