#include "state/state_file.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "state/schema.h"
#include "state/whole_file.h"

namespace phsic {
namespace {

constexpr std::int64_t kNumbers = std::int64_t{1} << 44;  // entries of a stream
constexpr std::int64_t kParts = std::int64_t{1} << 20;    // of a snapshot
constexpr std::size_t kMostRemoved = 1024;                // entries at once

std::int64_t key_of(std::uint32_t stream, std::uint64_t number) {
  return static_cast<std::int64_t>(stream) * kNumbers + static_cast<std::int64_t>(number);
}

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

StreamRecord record_of(const Database::Statement& row) {
  StreamRecord record;
  record.id = static_cast<std::uint32_t>(row.whole(0));
  record.name = row.text(1);
  record.identity = row.text(2);
  record.options = row.text(3);
  record.created = row.real(4);
  return record;
}

constexpr std::string_view kViews = "views";

std::vector<std::pair<std::string_view, std::string_view>> lines_of(std::string_view identity) {
  std::vector<std::pair<std::string_view, std::string_view>> lines;
  while (!identity.empty()) {
    const auto end = std::min(identity.find('\n'), identity.size());
    const auto line = identity.substr(0, end);
    identity.remove_prefix(std::min(end + 1, identity.size()));
    const auto colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    lines.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  return lines;
}

// A commit is on the disk when it returns, and what a snapshot has made of the log is given back.
// Debian's SQLite overwrites everything it deletes: to drop a snapshot would write as much as to
// make one. What costs nothing is still overwritten.
void tune(const Database& database) {
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA secure_delete = FAST");
  database.run("PRAGMA journal_size_limit = 67108864");
}

// A file that is there is never half made, whenever the process ends. Returns its name.
const std::string& make_if_missing(const std::string& file) {
  namespace fs = std::filesystem;
  if (fs::exists(file) && (!fs::is_regular_file(file) || fs::file_size(file) > 0)) return file;
  const auto made = file + ".part";
  remove_database(made);
  {
    const Database database(made, Database::Access::kCreate);
    database.transact([&] { create_schema(database); });
    tune(database);
  }
  // As SQLite does with a log beside a file that has nothing.
  remove_database(file);
  move_into_place(made, file);
  return file;
}

}  // namespace

std::string program_name() { return fmt::format("{} {}", PHSIC_VERSION, openblas_get_corename()); }

std::string identity_text(const std::vector<StreamTrait>& traits) {
  std::string text;
  for (const auto& [name, value] : traits) {
    auto line = value;
    std::replace(line.begin(), line.end(), '\n', ' ');
    fmt::format_to(std::back_inserter(text), "{}: {}\n", name, line);
  }
  return text;
}

std::vector<std::string> identity_differences(std::string_view found, std::string_view expected) {
  std::vector<std::string> differences;
  const auto find = [](const auto& lines, std::string_view name) {
    for (const auto& [key, value] : lines) {
      if (key == name) return value;
    }
    return std::string_view("nothing");
  };
  const auto ours = lines_of(expected);
  const auto theirs = lines_of(found);
  // Of other views each has a dozen lines, which would only say that the other has none.
  if (find(ours, kViews) != find(theirs, kViews)) {
    const auto say = [&](const auto& lines) {
      const auto views = find(lines, kViews);
      return views == "nothing" ? "one encoder" : views;
    };
    return {fmt::format("{}: found {}; expected {}", kViews, say(theirs), say(ours))};
  }
  for (const auto& [name, value] : ours) {
    const auto other = find(theirs, name);
    if (other != value) {
      differences.push_back(fmt::format("{}: found {}, expected {}", name, other, value));
    }
  }
  for (const auto& [name, value] : theirs) {
    if (find(ours, name) == "nothing") {
      differences.push_back(fmt::format("{}: found {}, expected nothing", name, value));
    }
  }
  return differences;
}

StateFile::StateFile(const std::string& file, Database::Access access)
    : database_(access == Database::Access::kCreate ? make_if_missing(file) : file, access) {
  open_existing(access);
}

void StateFile::open_existing(Database::Access access) {
  const auto application = database_.number("PRAGMA application_id");
  if (application != kApplicationId) {
    throw Error(fmt::format("{}: found application id {:#x}, expected {:#x}: no state of phsicd",
                            file(), application, kApplicationId));
  }
  version_ = static_cast<int>(database_.number("PRAGMA user_version"));
  if (version_ < 1 || version_ > kStateVersion) {
    throw Error(fmt::format("{}: found schema version {}, expected 1 to {}", file(), version_,
                            kStateVersion));
  }
  if (access == Database::Access::kRead || access == Database::Access::kReadAlone) return;
  tune(database_);
  page_bytes_ = static_cast<std::uint64_t>(database_.number("PRAGMA page_size"));
  if (version_ < kStateVersion) {
    database_.transact([&] { migrate_schema(database_, version_); });
    version_ = kStateVersion;
  }
  // What may be left in the log of a commit that never finished would look like damage later.
  database_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  has_parts_to_remove_ = true;
}

std::vector<StreamRecord> StateFile::streams() const {
  std::vector<StreamRecord> all;
  auto rows =
      database_.prepare("SELECT id, name, identity, options, created FROM stream ORDER BY name");
  while (rows.step()) all.push_back(record_of(rows));
  return all;
}

std::optional<StreamRecord> StateFile::find(std::string_view name) const {
  auto rows =
      database_.prepare("SELECT id, name, identity, options, created FROM stream WHERE name = ?");
  rows.bind(1, name);
  if (!rows.step()) return std::nullopt;
  return record_of(rows);
}

std::vector<SnapshotRecord> StateFile::snapshots(std::uint32_t stream) const {
  std::vector<SnapshotRecord> all;
  // A file that is only read is as old as it is.
  auto rows = database_.prepare(
      version_ < 2
          ? "SELECT id, number, pairs, taken, bytes, '' FROM snapshot WHERE stream = ? "
            "ORDER BY id DESC"
          : "SELECT id, number, pairs, taken, bytes, program FROM snapshot WHERE stream = ? "
            "ORDER BY id DESC");
  rows.bind(1, std::int64_t{stream});
  while (rows.step()) {
    SnapshotRecord record;
    record.id = rows.whole(0);
    record.number = static_cast<std::uint64_t>(rows.whole(1));
    record.pairs = static_cast<std::uint64_t>(rows.whole(2));
    record.taken = rows.real(3);
    record.bytes = static_cast<std::uint64_t>(rows.whole(4));
    record.program = rows.text(5);
    all.push_back(record);
  }
  return all;
}

std::string StateFile::snapshot(const SnapshotRecord& record) const {
  std::string bytes;
  auto rows = database_.prepare(
      "SELECT key, bytes FROM snapshot_part WHERE key >= ?1 * 1048576 AND key < (?1 + 1) * 1048576 "
      "ORDER BY key");
  rows.bind(1, record.id);
  for (std::int64_t part = 0; rows.step(); ++part) {
    if (rows.whole(0) != record.id * kParts + part) break;
    const auto more = rows.bytes(1);
    bytes.append(more.data(), more.size());
  }
  if (bytes.size() != record.bytes) {
    throw Error(fmt::format("found {} bytes, expected {}", bytes.size(), record.bytes));
  }
  return bytes;
}

JournalExtent StateFile::journal(std::uint32_t stream, std::uint64_t after) const {
  JournalExtent extent;
  auto rows = database_.prepare(
      "SELECT min(key), max(key), count(*), sum(pairs), sum(length(entry)) FROM journal "
      "WHERE key > ? AND key < ?");
  rows.bind(1, key_of(stream, after)).bind(2, key_of(stream + 1, 0));
  if (!rows.step() || rows.whole(2) == 0) return extent;
  extent.first = static_cast<std::uint64_t>(rows.whole(0) % kNumbers);
  extent.last = static_cast<std::uint64_t>(rows.whole(1) % kNumbers);
  extent.entries = static_cast<std::uint64_t>(rows.whole(2));
  extent.pairs = static_cast<std::uint64_t>(rows.whole(3));
  extent.bytes = static_cast<std::uint64_t>(rows.whole(4));
  return extent;
}

std::uint64_t StateFile::first_entry(std::uint32_t stream) const {
  auto rows = database_.prepare("SELECT min(key) FROM journal WHERE key > ? AND key < ?");
  rows.bind(1, key_of(stream, 0)).bind(2, key_of(stream + 1, 0));
  return rows.step() ? static_cast<std::uint64_t>(rows.whole(0) % kNumbers) : 0;
}

void StateFile::read_journal(std::uint32_t stream, std::uint64_t after, bool events,
                             const EntryVisitor& visit) const {
  // What is no number is 0 here, as it is when it is read.
  auto rows = database_.prepare(
      events ? "SELECT key, pairs, entry FROM journal WHERE key > ? AND key < ? AND "
               "ifnull(CAST(pairs AS INTEGER), 0) = 0 ORDER BY key"
             : "SELECT key, pairs, entry FROM journal WHERE key > ? AND key < ? ORDER BY key");
  rows.bind(1, key_of(stream, after)).bind(2, key_of(stream + 1, 0));
  while (rows.step()) {
    const auto number = static_cast<std::uint64_t>(rows.whole(0) % kNumbers);
    if (!visit(number, static_cast<std::uint64_t>(rows.whole(1)), rows.bytes(2))) return;
  }
}

std::map<std::string, std::uint64_t> StateFile::feed() const {
  std::map<std::string, std::uint64_t> all;
  auto rows = database_.prepare("SELECT topic, last FROM feed");
  while (rows.step()) {
    all[std::string(rows.text(0))] = static_cast<std::uint64_t>(rows.whole(1));
  }
  return all;
}

// Entries and snapshots that belong to no stream. Parts without a snapshot are of one that was not
// finished.
std::int64_t StateFile::count_strays() const {
  return database_.number(
             "SELECT count(*) FROM journal WHERE key / 17592186044416 NOT IN (SELECT id FROM "
             "stream)") +
         database_.number(
             "SELECT count(*) FROM snapshot WHERE stream NOT IN (SELECT id FROM stream)");
}

std::vector<std::string> StateFile::check() const {
  std::vector<std::string> problems;
  // Not quick_check: names are found by an index, which must have those of the table.
  auto rows = database_.prepare("PRAGMA integrity_check(10)");
  while (rows.step()) {
    if (rows.text(0) != "ok") problems.emplace_back(rows.text(0));
  }
  if (!problems.empty()) return problems;
  // An entry whose key was damaged is none of its stream's any more.
  if (const auto strays = count_strays(); strays > 0) {
    problems.push_back(
        fmt::format("found {} rows that belong to no stream, expected none", strays));
  }
  return problems;
}

std::uint32_t StateFile::put_stream(const std::string& name, const std::string& identity,
                                    const std::string& options) {
  if (const auto known = find(name)) {
    auto change = database_.prepare("UPDATE stream SET identity = ?, options = ? WHERE id = ?");
    change.bind(1, identity).bind(2, options).bind(3, std::int64_t{known->id}).run();
    return known->id;
  }
  insert_stream({0, name, identity, options, seconds_since_1970()});
  return static_cast<std::uint32_t>(database_.last_insert());
}

void StateFile::add_stream(std::uint32_t id, const std::string& name, const std::string& identity,
                           const std::string& options) {
  insert_stream({id, name, identity, options, seconds_since_1970()});
}

// Id 0: the next one.
void StateFile::insert_stream(const StreamRecord& record) {
  auto insert = database_.prepare(
      "INSERT INTO stream (id, name, identity, options, created) VALUES (?, ?, ?, ?, ?)");
  if (record.id != 0) insert.bind(1, std::int64_t{record.id});
  insert.bind(2, record.name).bind(3, record.identity).bind(4, record.options);
  insert.bind(5, record.created).run();
}

void StateFile::remove_stream(std::uint32_t stream) {
  const std::int64_t id{stream};
  database_
      .prepare(
          "DELETE FROM snapshot_part WHERE key / 1048576 IN (SELECT id FROM snapshot "
          "WHERE stream = ?)")
      .bind(1, id)
      .run();
  database_.prepare("DELETE FROM snapshot WHERE stream = ?").bind(1, id).run();
  database_.prepare("DELETE FROM journal WHERE key >= ? AND key < ?")
      .bind(1, key_of(stream, 0))
      .bind(2, key_of(stream + 1, 0))
      .run();
  database_.prepare("DELETE FROM stream WHERE id = ?").bind(1, id).run();
}

std::vector<std::string> StateFile::take_over(const StateFile& from, const StreamRecord& record) {
  std::vector<std::string> missing;
  insert_stream(record);
  const auto problem = copy_journal(
      from, record.id, [](std::uint64_t, std::uint64_t, std::span<const char>) { return true; });
  if (!problem.empty()) missing.push_back(problem);
  auto snapshots = from.snapshots(record.id);
  // The newest has the greatest id here, too.
  std::reverse(snapshots.begin(), snapshots.end());
  for (auto& snapshot : snapshots) {
    std::string bytes;
    try {
      bytes = from.snapshot(snapshot);
    } catch (const Error& unreadable) {
      missing.push_back(
          fmt::format("the snapshot at {} pairs: {}", snapshot.pairs, unreadable.what()));
      continue;
    }
    snapshot.id = next_snapshot();
    put_parts(snapshot.id, bytes);
    insert_snapshot(record.id, snapshot);
  }
  return missing;
}

std::string StateFile::copy_journal(const StateFile& from, std::uint32_t stream,
                                    const EntryVisitor& wants) {
  std::exception_ptr failure;  // of this file; what cannot be read there is another matter
  const auto copy = [&](std::uint64_t number, std::uint64_t pairs, std::span<const char> entry) {
    if (!wants(number, pairs, entry)) return false;
    try {
      append(stream, number, pairs, entry);
    } catch (...) {
      failure = std::current_exception();
    }
    return failure == nullptr;
  };
  std::string problem;
  try {
    from.read_journal(stream, 0, false, copy);
  } catch (const DatabaseError& unreadable) {
    problem = unreadable.what();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  return problem;
}

void StateFile::append(std::uint32_t stream, std::uint64_t number, std::uint64_t pairs,
                       std::span<const char> entry) {
  if (!append_) {
    append_ = database_.prepare("INSERT INTO journal (key, pairs, entry) VALUES (?, ?, ?)");
  }
  // A statement that has failed must be reset before it is bound again.
  append_->reset();
  append_->bind(1, key_of(stream, number))
      .bind(2, static_cast<std::int64_t>(pairs))
      .bind_bytes(3, entry);
  append_->run();
}

void StateFile::put_snapshot(std::uint32_t stream, std::uint64_t number, std::uint64_t pairs,
                             std::span<const char> bytes, const Keeping& keeping) {
  const auto id = next_snapshot();
  put_parts(id, bytes);
  finish_snapshot(id, stream, number, pairs, bytes.size(), keeping);
}

void StateFile::put_parts(std::int64_t snapshot, std::span<const char> bytes) {
  for (std::size_t start = 0, part = 0; start < bytes.size(); start += kPartBytes, ++part) {
    put_part(snapshot, part, bytes.subspan(start, std::min(kPartBytes, bytes.size() - start)));
  }
}

std::int64_t StateFile::next_snapshot() const {
  return 1 + database_.number(
                 "SELECT max(ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'snapshot'), 0), "
                 "ifnull((SELECT max(key) / 1048576 FROM snapshot_part), 0))");
}

void StateFile::put_part(std::int64_t snapshot, std::size_t part, std::span<const char> bytes) {
  database_.prepare("INSERT INTO snapshot_part (key, bytes) VALUES (?, ?)")
      .bind(1, snapshot * kParts + static_cast<std::int64_t>(part))
      .bind_bytes(2, bytes)
      .run();
}

void StateFile::remove_remains(std::int64_t unfinished) {
  if (has_parts_to_remove_ && remove_part(unfinished)) return;
  has_parts_to_remove_ = false;
  while (!to_trim_.empty() && !trim(*to_trim_.begin())) to_trim_.erase(to_trim_.begin());
}

// False: there is none.
bool StateFile::remove_part(std::int64_t unfinished) {
  auto find = database_.prepare(
      "SELECT key FROM snapshot_part WHERE key / 1048576 NOT IN (SELECT id FROM snapshot) AND "
      "key / 1048576 <> ? LIMIT 1");
  find.bind(1, unfinished);
  if (!find.step()) return false;
  const auto key = find.whole(0);
  find.reset();
  database_.prepare("DELETE FROM snapshot_part WHERE key = ?").bind(1, key).run();
  return true;
}

// Some entries that all snapshots of the stream cover. False: there are none.
bool StateFile::trim(std::uint32_t stream) {
  const auto all = snapshots(stream);
  if (all.empty()) return false;
  // Sizes are known without reading what they are of.
  auto rows = database_.prepare(
      "SELECT key, length(entry) FROM journal WHERE key > ? AND key <= ? ORDER BY key");
  rows.bind(1, key_of(stream, 0)).bind(2, key_of(stream, all.back().number));
  std::int64_t last = 0;
  std::size_t entries = 0;
  for (std::int64_t bytes = 0;
       entries < kMostRemoved && bytes < std::int64_t{kPartBytes} && rows.step(); ++entries) {
    last = rows.whole(0);
    bytes += rows.whole(1);
  }
  rows.reset();
  if (entries == 0) return false;
  database_.prepare("DELETE FROM journal WHERE key > ? AND key <= ?")
      .bind(1, key_of(stream, 0))
      .bind(2, last)
      .run();
  return true;
}

void StateFile::finish_snapshot(std::int64_t snapshot, std::uint32_t stream, std::uint64_t number,
                                std::uint64_t pairs, std::size_t size, const Keeping& keeping) {
  insert_snapshot(stream, {snapshot, number, pairs, seconds_since_1970(), size, program_name()});
  const auto all = snapshots(stream);
  const auto kept = std::min(std::max<std::size_t>(1, keeping.snapshots), all.size());
  for (auto i = kept; i < all.size(); ++i) {
    database_.prepare("DELETE FROM snapshot WHERE id = ?").bind(1, all[i].id).run();
    has_parts_to_remove_ = true;
  }
  if (!keeping.whole_journal) to_trim_.insert(stream);
}

void StateFile::insert_snapshot(std::uint32_t stream, const SnapshotRecord& record) {
  database_
      .prepare(
          "INSERT INTO snapshot (id, stream, number, pairs, taken, bytes, program) "
          "VALUES (?, ?, ?, ?, ?, ?, ?)")
      .bind(1, record.id)
      .bind(2, std::int64_t{stream})
      .bind(3, static_cast<std::int64_t>(record.number))
      .bind(4, static_cast<std::int64_t>(record.pairs))
      .bind(5, record.taken)
      .bind(6, static_cast<std::int64_t>(record.bytes))
      .bind(7, record.program)
      .run();
}

void StateFile::put_feed(const std::string& topic, std::uint64_t last) {
  database_
      .prepare(
          "INSERT INTO feed (topic, last) VALUES (?1, ?2) "
          "ON CONFLICT (topic) DO UPDATE SET last = ?2")
      .bind(1, topic)
      .bind(2, static_cast<std::int64_t>(last))
      .run();
}

void StateFile::remove_feed(const std::string& topic) {
  database_.prepare("DELETE FROM feed WHERE topic = ?").bind(1, topic).run();
}

void StateFile::settle() const {
  if (database_.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0) return;
  throw Error(fmt::format("{}: found it in use, expected nobody to read it", file()));
}

bool StateFile::has_moved() const {
  std::error_code ignored;
  return database_.has_moved() || !std::filesystem::exists(file() + "-wal", ignored);
}

}  // namespace phsic
