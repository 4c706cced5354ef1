#include "daemon/restart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "daemon/log.h"
#include "decide/memory_replay.h"
#include "engine/model_cycle.h"
#include "state/replacement.h"
#include "state/verify.h"
#include "state/wal_tail.h"
#include "wire/json_text.h"

namespace phsic {
namespace {

std::uintmax_t size_of(const std::string& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file, missing);
  return missing ? 0 : size;
}

// There is no file, or nothing in it.
void inspect_nothing(const std::string& state, bool is_fresh, Restart& restart) {
  const bool is_there = std::filesystem::exists(state);
  const auto missing = find_missing_state(state);
  if (missing.empty()) {
    log(is_there ? LogLevel::kWarning : LogLevel::kInfo,
        is_there ? "state is empty" : "state is new", {{"file", state}});
    return;
  }
  if (!is_fresh) {
    throw Error(fmt::format("{}. Restore it, or begin anew (phsicd --fresh).", missing));
  }
  log(LogLevel::kWarning, "begins anew", {{"problem", missing}});
  restart.forgets = true;
  // Its log must not be taken for that of the new one.
  if (const auto found = find_lone_log(state); !found.empty()) restart.damage.push_back(found);
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

// Recovers each stream, or gives it up if that is wanted.
void recover_streams(const std::vector<StreamSettings>& streams, const EncoderPath& path,
                     const StateFile& file, const StateMarks& marks, bool gives_up,
                     StartProgress& progress, Restart& restart) {
  for (const auto& settings : streams) {
    progress.begin("opening", settings.name);
    OpenedStream opened{open_stream(settings, path), Recovery(settings.id_window)};
    progress.begin("recovering", settings.name);
    const auto watcher = [&, is_told = false](std::uint64_t pairs, std::uint64_t of) mutable {
      progress.note(pairs, of);
      if (is_told || of == 0) return;
      is_told = true;
      log(LogLevel::kInfo, "recovering",
          {{"stream", settings.name},
           {"from_snapshot", opened.stream->pairs()},
           {"to_replay", of}});
    };
    try {
      MemoryReplay decisions(settings.plan());
      opened.recovery = recover(file, settings.name, *opened.stream, settings.id_window, marks,
                                watcher, &decisions);
    } catch (const Error& problem) {
      if (!gives_up) throw;
      log(LogLevel::kWarning, "begins anew",
          {{"stream", settings.name}, {"problem", problem.what()}});
      restart.unfit.push_back(settings.name);
      opened = {open_stream(settings, path), Recovery(settings.id_window)};
    }
    restart.damage.insert(restart.damage.end(), opened.recovery.damage.begin(),
                          opened.recovery.damage.end());
    restart.streams.push_back(std::move(opened));
  }
}

void open_empty(const std::vector<StreamSettings>& streams, const EncoderPath& path,
                StartProgress& progress, Restart& restart) {
  restart.streams.clear();
  for (const auto& settings : streams) {
    progress.begin("opening", settings.name);
    restart.streams.push_back({open_stream(settings, path), Recovery(settings.id_window)});
  }
}

// A snapshot has no place for a model that is being built. Its cut is chosen at the start.
void adopt_pending(const StreamSettings& settings, OpenedStream& opened) {
  if (opened.recovery.pending == nullptr) return;
  ModelCycle cycle(*opened.stream, nullptr, std::move(opened.recovery.pending));
  if (const auto problem = cycle.complete()) {
    // As ever: the next one may do better.
    log(LogLevel::kWarning, "no model was built", {{"problem", problem->what()}});
    return;
  }
  MemoryReplay decisions(settings.plan());
  auto& parts = opened.recovery.serving.parts;
  decisions.open(parts);
  decisions.adopted();
  decisions.save(parts);
}

// The entries that are whole and follow on each other, up to the last that was found.
void copy_journal(const StateFile& from, const EntryPlace& last, StateFile& to) {
  std::optional<EntryPlace> next;
  const auto wants = [&](std::uint64_t number, std::uint64_t pairs, std::span<const char> bytes) {
    try {
      const auto place = next.value_or(parse<Entry>(bytes).place);
      if (number > last.number || place.number != number ||
          parse_entry(bytes, place).pairs.size() != pairs) {
        return false;
      }
      next = EntryPlace{last.stream, number + 1, place.pairs + pairs};
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  // What cannot be read was told of when it was recovered.
  static_cast<void>(to.copy_journal(from, last.stream, wants));
}

// A stream as it was recovered, with a snapshot that holds all of it.
void put_recovered(const StateFile& from, const StreamSettings& settings, OpenedStream& opened,
                   bool keeps_journal, StateFile& to) {
  auto& recovery = opened.recovery;
  adopt_pending(settings, opened);
  const auto& last = recovery.last;
  to.add_stream(last.stream, settings.name, identity_text(opened.stream->identity()),
                json_object(settings.options));
  if (keeps_journal) copy_journal(from, last, to);
  to.put_snapshot(last.stream, last.number, last.pairs,
                  seal_snapshot(last, recovery.serving, *opened.stream->state()), {1, true});
  recovery.replayed_bytes = 0;
}

void put_recovered(const StateFile& from, const Config& config, Restart& restart, StateFile& to) {
  to.transact([&] {
    for (std::size_t i = 0; i < config.streams.size(); ++i) {
      // One that the file does not know, or that was given up, is as new.
      if (restart.streams[i].recovery.stream == 0) continue;
      put_recovered(from, config.streams[i], restart.streams[i], config.keeps_journal, to);
    }
  });
}

// Streams of the file that are not served now stay as they are.
void take_over_others(const StateFile& from, const Config& config, StateFile& to) {
  for (const auto& record : from.streams()) {
    const auto is_it = [&](const StreamSettings& settings) { return settings.name == record.name; };
    if (std::any_of(config.streams.begin(), config.streams.end(), is_it)) continue;
    std::vector<std::string> missing;
    to.transact([&] { missing = to.take_over(from, record); });
    for (const auto& problem : missing) {
      log(LogLevel::kError, "a stream that is not served is damaged",
          {{"stream", record.name}, {"problem", problem}});
    }
  }
}

// The file as it was, if it can be read at all.
std::unique_ptr<StateFile> open_old(const Config& config, const Restart& restart) {
  try {
    auto from = std::make_unique<StateFile>(config.state, Database::Access::kRead);
    static_cast<void>(from->streams());
    return from;
  } catch (const Error& problem) {
    // What was recovered a moment ago must not be lost now.
    for (const auto& opened : restart.streams) {
      if (opened.recovery.stream != 0) throw;
    }
    log(LogLevel::kWarning, "nothing is taken over", {{"problem", problem.what()}});
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<Stream> open_stream(const StreamSettings& settings, const EncoderPath& path) {
  try {
    return Stream::open(settings.spec, path);
  } catch (const Error& problem) {
    throw Error(fmt::format("streams.{}: {}", settings.name, problem.what()));
  }
}

std::string find_missing_state(const std::string& state) {
  if (auto found = find_lone_log(state); !found.empty()) return found;
  std::uint64_t pairs = 0;
  for (const auto& mark : StateMarks(state).all()) pairs += mark.pairs;
  if (pairs == 0) return {};
  return fmt::format("{}: found {}, expected the {} pairs that {}-lock tells of", state,
                     std::filesystem::exists(state) ? "nothing in it" : "no such file", pairs,
                     state);
}

Restart open_streams(const std::vector<StreamSettings>& streams, const EncoderPath& path,
                     const std::string& state, StartMode mode, StartProgress& progress) {
  Restart restart;
  const bool is_fresh = mode == StartMode::kFresh;
  if (state.empty() || size_of(state) == 0) {
    if (!state.empty()) inspect_nothing(state, is_fresh, restart);
    open_empty(streams, path, progress, restart);
    return restart;
  }
  progress.begin("checking the state");
  // Before SQLite looks at it. Who writes it meanwhile makes a log look damaged that is not.
  if (mode != StartMode::kJoin) inspect_log(state, restart.damage);
  const StateMarks marks(state);
  try {
    const StateFile file(state, Database::Access::kRead);
    auto unsound = file.check();
    restart.damage.insert(restart.damage.end(), unsound.begin(), unsound.end());
    restart.feed = file.feed();
    recover_streams(streams, path, file, marks, is_fresh, progress, restart);
  } catch (const Error& problem) {
    if (!is_fresh) throw;
    restart.damage.emplace_back(problem.what());
    open_empty(streams, path, progress, restart);
  }
  if (mode == StartMode::kJoin && restart.needs_new_file()) {
    throw Error(fmt::format("{}: {}", state, fmt::join(restart.damage, "\n")));
  }
  return restart;
}

void replace_state(const Config& config, Restart& restart) {
  Replacement replacement(config.state);
  auto& to = replacement.made();
  if (const auto from = open_old(config, restart)) {
    take_over_others(*from, config, to);
    put_recovered(*from, config, restart, to);
  }
  to.transact([&] {
    for (const auto& [topic, last] : restart.feed) to.put_feed(topic, last);
  });
  const auto old = replacement.finish();
  log(LogLevel::kWarning, "state written anew", {{"file", config.state}, {"old", old}});
}

}  // namespace phsic
