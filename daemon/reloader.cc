#include "daemon/reloader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/asio/post.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "daemon/config_change.h"
#include "daemon/log.h"
#include "daemon/notify.h"

namespace phsic {

Reloader::Reloader(boost::asio::io_context& loop, StreamOpener& opener, StartProgress& progress,
                   std::function<Config()> reread, Adopt adopt, std::function<void()> ended)
    : loop_(loop),
      opener_(opener),
      progress_(progress),
      reread_(std::move(reread)),
      adopt_(std::move(adopt)),
      ended_(std::move(ended)) {}

Reloader::~Reloader() { join(); }

void Reloader::join() {
  if (thread_.joinable()) thread_.join();
}

void Reloader::begin(const Config& running) {
  has_begun_ = true;
  if (is_asked_again_) reload(running);
}

void Reloader::reload(const Config& running) {
  if (is_stopped_) return;
  if (is_reloading_ || !has_begun_) {
    is_asked_again_ = true;
    return;
  }
  is_reloading_ = true;
  is_asked_again_ = false;
  notify_reloading();
  join();
  // Encoders of new streams may take long to open; the loop goes on meanwhile.
  thread_ = std::thread([this, running] { read(running); });
}

// In the thread.
void Reloader::read(const Config& running) {
  try {
    auto wanted = reread_();
    if (const auto refused = refused_changes(running, wanted); !refused.empty()) {
      throw Error(fmt::format("{}", fmt::join(refused, "\n")));
    }
    const auto added = std::make_shared<NewStreams>(opener_.open_new(running, wanted, progress_));
    boost::asio::post(loop_, [this, added, wanted = std::move(wanted)] { finish(wanted, *added); });
  } catch (const std::exception& problem) {
    boost::asio::post(loop_, [this, why = std::string(problem.what())] { refuse(why); });
  }
}

void Reloader::stop() {
  is_stopped_ = true;
  progress_.cancel();
}

void Reloader::finish(Config wanted, NewStreams& added) {
  // Noted before some of them are moved to their lanes.
  const auto names = names_of(added);
  if (is_stopped_) {
    opener_.withdraw(names);
    end();
    return;
  }
  try {
    adopt_(std::move(wanted), added);
  } catch (const std::exception& problem) {
    opener_.withdraw(names);
    refuse(problem.what());
    return;
  }
  ++taken_over_;
  end();
}

void Reloader::refuse(const std::string& why) {
  // A reload that the daemon's end broke off is no fault of the configuration.
  if (!is_stopped_) {
    ++refused_;
    log(LogLevel::kError, "reload refused, the old configuration stays", {{"problem", why}});
  }
  end();
}

void Reloader::end() {
  is_reloading_ = false;
  // systemd was told that the daemon ends: it is not ready any more.
  if (!is_stopped_) notify_ready();
  ended_();
}

}  // namespace phsic
