// SIGHUP: what can change without losing anything is taken over, the rest refused.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <iterator>
#include <utility>

#include "daemon/config_change.h"
#include "daemon/log.h"
#include "daemon/notify.h"
#include "daemon/server.h"

namespace phsic {

void Server::reload() {
  if (is_draining_) return;
  if (is_reloading_ || is_starting_) {
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
      auto added = prepare_new(running, wanted);
      const auto done = std::make_shared<std::pair<Config, std::map<std::string, Prepared>>>(
          std::move(wanted), std::move(added));
      boost::asio::post(
          loop_, [this, done] { finish_reload(std::move(done->first), std::move(done->second)); });
    } catch (const std::exception& problem) {
      boost::asio::post(loop_, [this, why = std::string(problem.what())] { refuse_reload(why); });
    }
  });
}

// Opens the streams that were not there, with what the state has of them. In the reloader's thread.
std::map<std::string, Server::Prepared> Server::prepare_new(const Config& running,
                                                            const Config& wanted) {
  std::vector<StreamSettings> added;
  std::copy_if(wanted.streams.begin(), wanted.streams.end(), std::back_inserter(added),
               [&](const StreamSettings& settings) {
                 return std::none_of(
                     running.streams.begin(), running.streams.end(),
                     [&](const StreamSettings& known) { return known.name == settings.name; });
               });
  std::map<std::string, Prepared> prepared;
  if (added.empty()) return prepared;
  const EncoderPath path({wanted.encoder_path.begin(), wanted.encoder_path.end()});
  auto opened = open_streams(added, path, wanted.state, StartMode::kJoin, progress_);
  try {
    for (std::size_t i = 0; i < added.size(); ++i) {
      prepared.emplace(added[i].name, prepare(added[i], std::move(opened.streams[i]), opened.feed,
                                              state_writer_.get()));
    }
  } catch (...) {
    withdraw(prepared);
    throw;
  }
  return prepared;
}

// A reload that is refused leaves nothing in the state.
void Server::withdraw(std::map<std::string, Prepared>& added) {
  for (auto& [name, prepared] : added) {
    if (prepared.journal != nullptr) prepared.journal->withdraw();
  }
}

void Server::finish_reload(Config wanted, std::map<std::string, Prepared> added) {
  is_reloading_ = false;
  if (is_draining_) {
    withdraw(added);
    stop_if_drained();
    return;
  }
  // What can fail comes first: all or nothing.
  std::vector<std::unique_ptr<Entrance>> entrances;
  try {
    for (const auto& settings : wanted.streams) {
      if (added.contains(settings.name)) {
        entrances.push_back(make_entrance(settings.ingest, settings.name));
      }
    }
  } catch (const std::exception& problem) {
    withdraw(added);
    refuse_reload(problem.what());
    return;
  }
  for (const auto& settings : wanted.streams) {
    if (const auto found = added.find(settings.name); found != added.end()) {
      add_stream(settings, std::move(found->second));
    } else {
      streams_.at(settings.name).lane->update(settings);
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
