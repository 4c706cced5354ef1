#include "daemon/starter.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "daemon/log.h"
#include "daemon/notify.h"

namespace phsic {
namespace {

// How long a start that goes on may take until the next sign of it.
constexpr auto kPatience = std::chrono::minutes(10);
constexpr auto kTellAgain = std::chrono::seconds(5);
// For a start to end by itself after a signal. An encoder may take any time.
constexpr auto kEarlyGrace = std::chrono::seconds(1);

}  // namespace

Starter::Starter(boost::asio::io_context& loop, StreamOpener& opener, StartProgress& progress,
                 StartMode mode)
    : loop_(loop), opener_(opener), progress_(progress), mode_(mode), patience_(loop) {}

Starter::~Starter() { join(); }

void Starter::start(const Config& config, Started started) {
  thread_ = std::thread([this, config, started = std::move(started)] {
    const auto streams = std::make_shared<std::vector<PreparedStream>>();
    std::exception_ptr failure;
    try {
      *streams = opener_.open_all(config, mode_, progress_);
    } catch (...) {
      failure = std::current_exception();
    }
    boost::asio::post(loop_, [this, started, streams, failure] {
      is_starting_ = false;
      patience_.cancel();
      started(std::move(*streams), failure);
    });
  });
}

void Starter::show() {
  const auto now = Clock::now();
  const auto step = progress_.step();
  notify_status(fmt::format("starting: {}", step.to_string()));
  if (std::exchange(steps_shown_, step.steps) != step.steps) notify_progress(kPatience);
  if (now - told_ < kTellAgain) return;
  told_ = now;
  log(LogLevel::kInfo, "starting",
      {{"doing", step.doing},
       {"stream", step.stream},
       {"pairs", step.pairs},
       {"of", step.of},
       {"seconds", std::chrono::duration<double>(now - began_).count()}});
}

PingFacts::Starting Starter::facts() const {
  const auto step = progress_.step();
  return {step.doing, step.stream, step.pairs, step.of,
          std::chrono::duration<double>(Clock::now() - began_).count()};
}

void Starter::break_off() {
  progress_.cancel();
  log(LogLevel::kInfo, "ends before it has started", {{"doing", progress_.step().to_string()}});
  patience_.expires_after(kEarlyGrace);
  patience_.async_wait([](const boost::system::error_code& error) {
    if (error) return;
    // A thread that does not end cannot be joined: leave everything as it is.
    log(LogLevel::kInfo, "ended", {{"status", 0}});
    std::_Exit(0);
  });
}

void Starter::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace phsic
