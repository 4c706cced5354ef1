// The state of a daemon: one SQLite file with the journals and snapshots of its streams.
//
// docs/state.md describes the file. Who writes holds its StateLock, so that there is one of them at
// a time; anyone may read meanwhile. A StateFile belongs to one thread at a time; it throws a
// DatabaseError when SQLite fails, an Error when the file is not what it should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/stream_storage.h"
#include "state/database.h"

namespace phsic {

inline constexpr int kStateVersion = 2;

// A stream as the file knows it.
struct StreamRecord {
  std::uint32_t id = 0;
  std::string name;
  std::string identity;  // lines of `name: value`
  std::string options;   // JSON
  double created = 0;
};

struct SnapshotRecord {
  std::int64_t id = 0;
  std::uint64_t number = 0;  // the last entry that it covers
  std::uint64_t pairs = 0;
  double taken = 0;
  std::uint64_t bytes = 0;
  std::string program;  // what wrote it; empty before version 2
};

// This program, on this processor: with the same, a replay gives the same bits.
[[nodiscard]] std::string program_name();

struct JournalExtent {
  std::uint64_t first = 0;  // number of the first entry; 0: there is none
  std::uint64_t last = 0;
  std::uint64_t entries = 0;
  std::uint64_t pairs = 0;
  std::uint64_t bytes = 0;
};

// What a file of a stream's traits looks like in it.
[[nodiscard]] std::string identity_text(const std::vector<StreamTrait>& traits);
// What differs, a line for each: name: found ..., expected ...
[[nodiscard]] std::vector<std::string> identity_differences(std::string_view found,
                                                            std::string_view expected);

class StateFile {
 public:
  // kCreate makes a new one where there is none. An older schema is brought forward, unless it is
  // only read. Throws an Error that says what was found and expected.
  StateFile(const std::string& file, Database::Access access);

  [[nodiscard]] const std::string& file() const { return database_.file(); }
  [[nodiscard]] int version() const { return version_; }

  // -- Reading --

  // All that `work` reads is of one moment, whatever a daemon writes meanwhile.
  void look(const std::function<void()>& work) const { database_.look(work); }
  [[nodiscard]] std::vector<StreamRecord> streams() const;
  [[nodiscard]] std::optional<StreamRecord> find(std::string_view name) const;
  // Newest first.
  [[nodiscard]] std::vector<SnapshotRecord> snapshots(std::uint32_t stream) const;
  [[nodiscard]] std::string snapshot(const SnapshotRecord& record) const;
  [[nodiscard]] JournalExtent journal(std::uint32_t stream, std::uint64_t after = 0) const;
  // The number of the first entry of the journal; 0: there is none. Reads nothing else.
  [[nodiscard]] std::uint64_t first_entry(std::uint32_t stream) const;
  // visit(number, pairs, entry). False: no more.
  using EntryVisitor = std::function<bool(std::uint64_t, std::uint64_t, std::span<const char>)>;
  // Calls it for each entry after `after`, in order. `events`: only entries without pairs.
  void read_journal(std::uint32_t stream, std::uint64_t after, bool events,
                    const EntryVisitor& visit) const;
  [[nodiscard]] std::map<std::string, std::uint64_t> feed() const;
  // What is wrong with the file, without looking into entries and snapshots; empty: nothing.
  [[nodiscard]] std::vector<std::string> check() const;

  // -- Writing --

  // All of `work`, or nothing.
  void transact(const std::function<void()>& work) const { database_.transact(work); }

  // A new one, or new options of one that is there. Returns its id.
  std::uint32_t put_stream(const std::string& name, const std::string& identity,
                           const std::string& options);
  // A new one with that id. REQUIRES: neither the id nor the name is there.
  void add_stream(std::uint32_t id, const std::string& name, const std::string& identity,
                  const std::string& options);
  void remove_stream(std::uint32_t stream);
  // Takes over a stream of another file as it is: its id, which must be free here, its entries and
  // its snapshots. Returns what could not be read there. Throws an Error when this file fails.
  std::vector<std::string> take_over(const StateFile& from, const StreamRecord& record);
  // Copies entries for as long as they are wanted, into a stream with the same id. The same holds.
  std::string copy_journal(const StateFile& from, std::uint32_t stream, const EntryVisitor& wants);
  void append(std::uint32_t stream, std::uint64_t number, std::uint64_t pairs,
              std::span<const char> entry);
  // Keeps the newest `keep` snapshots of the stream, this one included, and of the journal what
  // comes after the oldest of them, or all of it. What is not kept any more is removed later, by
  // remove_remains().
  struct Keeping {
    std::size_t snapshots = 3;
    bool whole_journal = false;
  };
  void put_snapshot(std::uint32_t stream, std::uint64_t number, std::uint64_t pairs,
                    std::span<const char> bytes, const Keeping& keeping);
  // The same in pieces, each in a transaction of its own, so that others get their turn. A snapshot
  // is there when it is finished.
  [[nodiscard]] std::int64_t next_snapshot() const;
  void put_part(std::int64_t snapshot, std::size_t part, std::span<const char> bytes);
  void finish_snapshot(std::int64_t snapshot, std::uint32_t stream, std::uint64_t number,
                       std::uint64_t pairs, std::size_t size, const Keeping& keeping);
  // Removes a part of a snapshot that is gone or was never finished, or about as many bytes of a
  // journal that snapshots cover: to remove all at once would hold others up. `unfinished` is a
  // snapshot that is being written, and stays. Wants a transaction of its own.
  void remove_remains(std::int64_t unfinished);
  [[nodiscard]] bool may_have_remains() const { return has_parts_to_remove_ || !to_trim_.empty(); }
  // A snapshot is not going to be finished.
  void abandon_snapshot() { has_parts_to_remove_ = true; }
  static constexpr std::size_t kPartBytes = 4U << 20U;
  void put_feed(const std::string& topic, std::uint64_t last);
  void remove_feed(const std::string& topic);

  // Writes SQLite's log into the file, which is whole without it then. Throws a DatabaseError when
  // that fails; to close the file would not tell.
  void settle() const;
  // Is the file that is open no longer the one of that name, or its log gone?
  [[nodiscard]] bool has_moved() const;
  void back_up(const std::string& to) const { database_.back_up(to); }
  // In SQLite's log, of commits that could not be written into the file.
  [[nodiscard]] std::uint64_t waiting_log_bytes() const {
    return page_bytes_ * static_cast<std::uint64_t>(database_.waiting_pages());
  }

 private:
  void insert_stream(const StreamRecord& record);
  void put_parts(std::int64_t snapshot, std::span<const char> bytes);
  void insert_snapshot(std::uint32_t stream, const SnapshotRecord& record);
  [[nodiscard]] std::int64_t count_strays() const;
  void open_existing(Database::Access access);
  [[nodiscard]] bool remove_part(std::int64_t unfinished);
  [[nodiscard]] bool trim(std::uint32_t stream);

  Database database_;
  int version_ = kStateVersion;
  std::uint64_t page_bytes_ = 0;
  // Where there may be something to remove. The tables say what: a transaction may be undone.
  bool has_parts_to_remove_ = false;
  std::set<std::uint32_t> to_trim_;  // streams
  // Prepared at the first use.
  std::optional<Database::Statement> append_;
};

}  // namespace phsic
