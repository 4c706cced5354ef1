#include "daemon/stream_opener.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "daemon/log.h"
#include "state/replacement.h"
#include "wire/json_text.h"

namespace phsic {

std::vector<std::string> names_of(const std::map<std::string, PreparedStream>& streams) {
  std::vector<std::string> names;
  names.reserve(streams.size());
  for (const auto& [name, stream] : streams) names.push_back(name);
  return names;
}

StreamOpener::StreamOpener(const Config& config, StateWriter::Watcher watcher,
                           StateWriter::LogWatcher log_watcher)
    : watcher_(std::move(watcher)), log_watcher_(std::move(log_watcher)) {
  if (config.state.empty()) return;
  lock_ = std::make_unique<StateLock>(config.state);
  if (const auto old = finish_replacement(config.state); !old.empty()) {
    log(LogLevel::kWarning, "state written anew", {{"file", config.state}, {"old", old}});
  }
  lock_->hold_state();
}

std::vector<PreparedStream> StreamOpener::open_all(const Config& config, StartMode mode,
                                                   StartProgress& progress) {
  const EncoderPath path({config.encoder_path.begin(), config.encoder_path.end()});
  auto restart = open_streams(config.streams, path, config.state, mode, progress);
  for (const auto& damage : restart.damage) {
    log(LogLevel::kError, "state damaged", {{"file", config.state}, {"problem", damage}});
  }
  progress.begin("opening the state");
  if (restart.needs_new_file()) replace_state(config, restart);
  if (lock_ != nullptr) {
    if (restart.forgets) lock_->forget_marks();
    state_writer_ = make_state_writer(config);
  }
  std::vector<PreparedStream> prepared;
  for (std::size_t i = 0; i < config.streams.size(); ++i) {
    prepared.push_back(
        prepare(config, config.streams[i], std::move(restart.streams[i]), restart.feed));
  }
  return prepared;
}

std::map<std::string, PreparedStream> StreamOpener::open_new(const Config& running,
                                                             const Config& wanted,
                                                             StartProgress& progress) {
  std::vector<StreamSettings> added;
  std::copy_if(wanted.streams.begin(), wanted.streams.end(), std::back_inserter(added),
               [&](const StreamSettings& settings) {
                 return std::none_of(
                     running.streams.begin(), running.streams.end(),
                     [&](const StreamSettings& known) { return known.name == settings.name; });
               });
  std::map<std::string, PreparedStream> prepared;
  if (added.empty()) return prepared;
  const EncoderPath path({wanted.encoder_path.begin(), wanted.encoder_path.end()});
  auto opened = open_streams(added, path, wanted.state, StartMode::kJoin, progress);
  try {
    for (std::size_t i = 0; i < added.size(); ++i) {
      auto& stream = prepared
                         .emplace(added[i].name, prepare(running, added[i],
                                                         std::move(opened.streams[i]), opened.feed))
                         .first->second;
      // The file may have been read before a stream of that name was withdrawn from it.
      if (stream.journal != nullptr) stream.feed = stream.journal->feed();
    }
  } catch (...) {
    withdraw(names_of(prepared));
    throw;
  }
  return prepared;
}

void StreamOpener::withdraw(const std::vector<std::string>& names) {
  if (state_writer_ == nullptr) return;
  for (const auto& name : names) state_writer_->withdraw(name);
}

std::unique_ptr<StateWriter> StreamOpener::make_state_writer(const Config& config) {
  StateWriter::Options options;
  options.commit_delay = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(config.commit_delay));
  options.keeping = {config.snapshots, config.keeps_journal};
  return std::make_unique<StateWriter>(*lock_, config.state, options, watcher_, log_watcher_);
}

PreparedStream StreamOpener::prepare(const Config& config, const StreamSettings& settings,
                                     OpenedStream opened,
                                     const std::map<std::string, std::uint64_t>& feed) {
  PreparedStream prepared{std::move(opened), nullptr, feed};
  if (state_writer_ == nullptr) return prepared;
  const auto& recovery = prepared.opened.recovery;
  prepared.journal = std::make_unique<StreamJournal>(
      *state_writer_, settings.name, identity_text(prepared.opened.stream->identity()),
      json_object(settings.options),
      StreamJournal::Options{config.snapshot_seconds, config.snapshot_bytes}, recovery);
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

}  // namespace phsic
