// From a configuration to streams at work.
//
// What takes long happens in a thread of its own, and only reads until all of it is there. The loop
// serves meanwhile: pings are answered, other requests wait, and a signal ends it at once.
#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/log.h"
#include "daemon/notify.h"
#include "daemon/server.h"
#include "state/replacement.h"
#include "wire/answer_writer.h"
#include "wire/json_text.h"

namespace phsic {
namespace {

// Requests that come before the streams are there.
constexpr std::size_t kMostEarly = 1024;
constexpr std::size_t kMostEarlyBytes = 64U << 20U;
// How long a start that goes on may take until the next sign of it.
constexpr auto kPatience = std::chrono::minutes(10);
constexpr auto kTellAgain = std::chrono::seconds(5);
// For a start to end by itself after a signal. An encoder may take any time.
constexpr auto kEarlyGrace = std::chrono::seconds(1);

}  // namespace

void Server::lock_state() {
  state_lock_ = std::make_unique<StateLock>(config_.state);
  if (const auto old = finish_replacement(config_.state); !old.empty()) {
    log(LogLevel::kWarning, "state written anew", {{"file", config_.state}, {"old", old}});
  }
  state_lock_->hold_state();
}

void Server::begin_start() {
  service_->read([this](Frames& frames) { take_request(frames); });
  starter_ = std::thread([this] {
    const auto started = std::make_shared<Started>();
    std::exception_ptr failure;
    try {
      open_all(*started);
    } catch (...) {
      failure = std::current_exception();
    }
    boost::asio::post(loop_, [this, started, failure] { end_start(*started, failure); });
  });
}

// In the starter's thread.
void Server::open_all(Started& started) {
  const EncoderPath path({config_.encoder_path.begin(), config_.encoder_path.end()});
  auto restart = open_streams(config_.streams, path, config_.state, start_mode_, progress_);
  for (const auto& damage : restart.damage) {
    log(LogLevel::kError, "state damaged", {{"file", config_.state}, {"problem", damage}});
  }
  progress_.begin("opening the state");
  if (restart.needs_new_file()) replace_state(config_, restart);
  if (state_lock_ != nullptr) {
    if (restart.forgets) state_lock_->forget_marks();
    started.state_writer = make_state_writer();
  }
  for (std::size_t i = 0; i < config_.streams.size(); ++i) {
    started.streams.push_back(prepare(config_.streams[i], std::move(restart.streams[i]),
                                      restart.feed, started.state_writer.get()));
  }
}

std::unique_ptr<StateWriter> Server::make_state_writer() {
  StateWriter::Options options;
  options.commit_delay = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(config_.commit_delay));
  options.keeping = {config_.snapshots, config_.keeps_journal};
  return std::make_unique<StateWriter>(
      *state_lock_, config_.state, options,
      [this](bool keeping, const std::string& message) {
        boost::asio::post(loop_, [this, keeping, message] { show_keeping(keeping, message); });
      },
      [this](std::uint64_t bytes) {
        boost::asio::post(loop_, [this, bytes] { show_log(bytes); });
      });
}

// Any thread.
Server::Prepared Server::prepare(const StreamSettings& settings, OpenedStream opened,
                                 const std::map<std::string, std::uint64_t>& feed,
                                 StateWriter* state_writer) const {
  Prepared prepared{std::move(opened), nullptr, feed};
  if (state_writer == nullptr) return prepared;
  const auto& recovery = prepared.opened.recovery;
  prepared.journal = std::make_unique<StreamJournal>(
      *state_writer, settings.name, identity_text(prepared.opened.stream->identity()),
      json_object(settings.options),
      StreamJournal::Options{config_.snapshot_seconds, config_.snapshot_bytes}, recovery);
  if (recovery.stream != 0) {
    log(recovery.lost > 0 ? LogLevel::kWarning : LogLevel::kInfo, "recovered",
        {{"stream", settings.name},
         {"pairs", prepared.opened.stream->pairs()},
         {"replayed", recovery.replayed},
         {"lost", recovery.lost}});
  }
  if (!recovery.program.empty() && recovery.program != program_name()) {
    // Sums go on exactly; what is computed of them may differ in the last bits.
    log(LogLevel::kInfo, "recovered from another program or processor",
        {{"stream", settings.name}, {"found", recovery.program}, {"expected", program_name()}});
  }
  return prepared;
}

void Server::end_start(Started& started, const std::exception_ptr& failure) {
  is_starting_ = false;
  if (!is_draining_ && failure == nullptr) {
    try {
      finish_start(started);
      return;
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  if (!is_draining_ && failure != nullptr) failure_ = failure;
  drain_timer_.cancel();
  loop_.stop();
}

void Server::finish_start(Started& started) {
  state_writer_ = std::move(started.state_writer);
  if (state_writer_ != nullptr) {
    feed_->keep([this](const std::string& topic, std::uint64_t last) {
      state_writer_->put_feed(topic, last);
    });
  }
  for (std::size_t i = 0; i < config_.streams.size(); ++i) {
    add_stream(config_.streams[i], std::move(started.streams[i]));
  }
  start_reading();
  tell_audience();
  log(LogLevel::kInfo, "ready", {{"version", PHSIC_VERSION}, {"streams", streams_.size()}});
  notify_status("");
  notify_ready();
  for (const auto& job : std::exchange(early_, {})) {
    try {
      serve(job);
    } catch (...) {
      refuse(*job);
    }
  }
  if (std::exchange(reloads_again_, false)) reload();
}

// Once a second.
void Server::show_start() {
  const auto now = Clock::now();
  const auto step = progress_.step();
  notify_status(fmt::format("starting: {}", step.to_string()));
  if (std::exchange(steps_shown_, step.steps) != step.steps) notify_progress(kPatience);
  if (now - start_told_ < kTellAgain) return;
  start_told_ = now;
  log(LogLevel::kInfo, "starting",
      {{"doing", step.doing},
       {"stream", step.stream},
       {"pairs", step.pairs},
       {"of", step.of},
       {"seconds", std::chrono::duration<double>(now - started_).count()}});
}

void Server::append_start(std::string& out) const {
  const auto step = progress_.step();
  out += ",\"starting\":{\"doing\":";
  append_json_text(out, step.doing);
  if (!step.stream.empty()) {
    out += ",\"stream\":";
    append_json_text(out, step.stream);
  }
  fmt::format_to(std::back_inserter(out), ",\"pairs\":{},\"of\":{},\"seconds\":{:.3f}}}",
                 step.pairs, step.of,
                 std::chrono::duration<double>(Clock::now() - started_).count());
}

// A request that came before there is anything to serve it with.
void Server::keep_early(const std::shared_ptr<Job>& job) {
  if (is_draining_) throw RequestError("shutting_down", "the daemon is about to end");
  std::size_t bytes = 0;
  for (const auto& frame : frame_views_) bytes += frame.size();
  if (early_.size() >= kMostEarly || early_bytes_ + bytes > kMostEarlyBytes) {
    throw RequestError("overloaded", "the daemon has not started yet, try again later");
  }
  early_bytes_ += bytes;
  early_.push_back(job);
}

// Nothing was written that cannot be left as it is.
void Server::break_off_start() {
  is_draining_ = true;
  progress_.cancel();
  log(LogLevel::kInfo, "ends before it has started", {{"doing", progress_.step().to_string()}});
  notify_stopping();
  for (const auto& job : std::exchange(early_, {})) {
    reply(*job, error_reply(job->id, "shutting_down", "the daemon is about to end"));
  }
  drain_timer_.expires_after(kEarlyGrace);
  drain_timer_.async_wait([](const boost::system::error_code& error) {
    if (error) return;
    // A thread that does not end cannot be joined: leave everything as it is.
    log(LogLevel::kInfo, "ended", {{"status", 0}});
    std::_Exit(0);
  });
}

}  // namespace phsic
