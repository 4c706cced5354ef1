#include "daemon/restart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "daemon/log.h"
#include "state/wal_tail.h"

namespace phsic {
namespace {

bool exists(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored) && std::filesystem::file_size(file, ignored) > 0;
}

// A single commit that cannot be read may be one that was under way when the power failed.
void inspect_log(const std::string& state, std::vector<std::string>& damage) {
  const auto tail = inspect_wal(state);
  if (tail.header_is_bad) damage.emplace_back("the log (-wal) begins with something else");
  const auto found = fmt::format(
      "the log (-wal) is damaged after {} frames: {} of its commits "
      "cannot be read",
      tail.frames, tail.lost_commits);
  if (tail.lost_commits > 1) damage.push_back(found);
  if (tail.lost_commits == 1) {
    log(LogLevel::kWarning, "the last commit is not whole",
        {{"file", state}, {"problem", found + ", as when the power fails"}});
  }
}

// REQUIRES: there is a copy of it.
void remove_state(const std::string& state) {
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(state + suffix);
}

std::unique_ptr<Stream> open_stream(const StreamSettings& settings, const EncoderPath& path) {
  try {
    return Stream::open(settings.spec, path);
  } catch (const Error& problem) {
    throw Error(fmt::format("streams.{}: {}", settings.name, problem.what()));
  }
}

// Recovers what can be; names of those that cannot go to `unfit`, if there is one.
void recover_streams(const std::vector<StreamSettings>& streams, const EncoderPath& path,
                     const StateFile& file, std::vector<std::string>* unfit, Restart& restart) {
  for (const auto& settings : streams) {
    OpenedStream opened{open_stream(settings, path), Recovery(settings.id_window)};
    try {
      opened.recovery = recover(file, settings.name, *opened.stream, settings.id_window);
    } catch (const Error&) {
      if (unfit == nullptr) throw;
      unfit->push_back(settings.name);
      opened = {open_stream(settings, path), Recovery(settings.id_window)};
    }
    restart.streams.push_back(std::move(opened));
  }
}

// The old file is kept beside; what fits is taken over.
Restart begin_anew(const std::vector<StreamSettings>& streams, const EncoderPath& path,
                   const std::string& state) {
  const auto copy = set_aside(state, "old");
  log(LogLevel::kWarning, "beginning anew, the old state is kept", {{"file", copy}});
  Restart restart;
  std::vector<std::string> unfit;
  try {
    StateFile file(state, Database::Access::kWrite);
    if (file.check().empty()) {
      recover_streams(streams, path, file, &unfit, restart);
      restart.feed = file.feed();
      file.transact([&] {
        for (const auto& name : unfit) {
          if (const auto record = file.find(name)) file.remove_stream(record->id);
        }
      });
      return restart;
    }
  } catch (const DatabaseError&) {
    // Not even that can be read.
  }
  remove_state(state);
  return open_streams(streams, path, state, Beginning::kGoOn);
}

}  // namespace

Restart open_streams(const std::vector<StreamSettings>& streams, const EncoderPath& path,
                     const std::string& state, Beginning beginning) {
  Restart restart;
  if (state.empty() || !exists(state)) {
    for (const auto& settings : streams) {
      restart.streams.push_back({open_stream(settings, path), Recovery(settings.id_window)});
    }
    return restart;
  }
  if (beginning == Beginning::kFresh) return begin_anew(streams, path, state);
  // Before SQLite looks at it.
  inspect_log(state, restart.damage);
  std::vector<std::string> unsound;
  {
    const StateFile file(state, Database::Access::kRead);
    unsound = file.check();
    recover_streams(streams, path, file, nullptr, restart);
    restart.feed = file.feed();
  }
  restart.damage.insert(restart.damage.end(), unsound.begin(), unsound.end());
  for (const auto& opened : restart.streams) {
    const auto& more = opened.recovery.damage;
    restart.damage.insert(restart.damage.end(), more.begin(), more.end());
  }
  if (restart.damage.empty()) return restart;
  if (beginning == Beginning::kJoin) {
    throw Error(fmt::format("{}: {}", state, fmt::join(restart.damage, "\n")));
  }
  restart.damage.push_back(fmt::format("copied as it was to {}", set_aside(state, "damaged")));
  // What is not sound must not be written to. All that could be read goes into a new file.
  if (!unsound.empty()) remove_state(state);
  return restart;
}

}  // namespace phsic
