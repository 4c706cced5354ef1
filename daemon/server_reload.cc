// SIGHUP: what can change without losing anything is taken over, the rest refused.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/config_change.h"
#include "daemon/log.h"
#include "daemon/notify.h"
#include "daemon/server.h"

namespace phsic {

void Server::reload() {
  if (is_draining_) return;
  if (is_reloading_) {
    reloads_again_ = true;
    return;
  }
  is_reloading_ = true;
  notify_reloading();
  if (reloader_.joinable()) reloader_.join();
  // Encoders of new streams may take long to open; the loop goes on meanwhile.
  reloader_ = std::thread([this, running = config_] {
    try {
      auto wanted = reread_();
      if (const auto refused = refused_changes(running, wanted); !refused.empty()) {
        throw Error(fmt::format("{}", fmt::join(refused, "\n")));
      }
      std::vector<std::unique_ptr<Stream>> opened;
      const EncoderPath path({wanted.encoder_path.begin(), wanted.encoder_path.end()});
      for (const auto& settings : wanted.streams) {
        const bool is_new =
            std::none_of(running.streams.begin(), running.streams.end(),
                         [&](const StreamSettings& known) { return known.name == settings.name; });
        opened.push_back(is_new ? Stream::open(settings.spec, path) : nullptr);
      }
      const auto done = std::make_shared<std::pair<Config, std::vector<std::unique_ptr<Stream>>>>(
          std::move(wanted), std::move(opened));
      boost::asio::post(
          loop_, [this, done] { finish_reload(std::move(done->first), std::move(done->second)); });
    } catch (const std::exception& problem) {
      boost::asio::post(loop_, [this, why = std::string(problem.what())] { refuse_reload(why); });
    }
  });
}

void Server::finish_reload(Config wanted, std::vector<std::unique_ptr<Stream>> opened) {
  is_reloading_ = false;
  if (is_draining_) {
    stop_if_drained();
    return;
  }
  // What can fail comes first: all or nothing.
  std::vector<std::unique_ptr<Entrance>> entrances;
  try {
    for (std::size_t i = 0; i < wanted.streams.size(); ++i) {
      const auto& settings = wanted.streams[i];
      if (opened[i] != nullptr) {
        entrances.push_back(make_entrance(settings.ingest, settings.name));
      }
    }
  } catch (const Error& problem) {
    refuse_reload(problem.what());
    return;
  }
  for (std::size_t i = 0; i < wanted.streams.size(); ++i) {
    const auto& settings = wanted.streams[i];
    if (opened[i] == nullptr) {
      streams_.at(settings.name).lane->update(settings);
    } else {
      add_stream(settings, std::move(opened[i]));
    }
  }
  for (auto& entrance : entrances) open(std::move(entrance));
  config_ = std::move(wanted);
  set_up_log(config_.log_level, config_.log_format);
  tell_audience();
  ++reloads_;
  log(LogLevel::kInfo, "reloaded", {{"streams", streams_.size()}});
  notify_ready();
  if (std::exchange(reloads_again_, false)) reload();
}

void Server::refuse_reload(const std::string& why) {
  is_reloading_ = false;
  ++refused_reloads_;
  log(LogLevel::kError, "reload refused, the old configuration stays", {{"problem", why}});
  notify_ready();
  stop_if_drained();
  if (std::exchange(reloads_again_, false)) reload();
}

}  // namespace phsic
