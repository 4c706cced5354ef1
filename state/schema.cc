#include "state/schema.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "state/state_file.h"

namespace phsic {
namespace {

// docs/state.md says what they hold. Keys of the journal and of parts are made of two numbers, so
// that a stream's entries lie together and in order without an index.
constexpr std::string_view kTables[] = {
    // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): each is one statement in several lines
    "CREATE TABLE stream (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
    "identity TEXT NOT NULL, options TEXT NOT NULL, created REAL NOT NULL) STRICT",
    "CREATE TABLE journal (key INTEGER PRIMARY KEY, pairs INTEGER NOT NULL, entry BLOB NOT NULL) "
    "STRICT",
    "CREATE TABLE snapshot (id INTEGER PRIMARY KEY AUTOINCREMENT, stream INTEGER NOT NULL, "
    "number INTEGER NOT NULL, pairs INTEGER NOT NULL, taken REAL NOT NULL, bytes INTEGER NOT NULL, "
    "program TEXT NOT NULL DEFAULT '') STRICT",
    "CREATE TABLE snapshot_part (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    "CREATE TABLE feed (topic TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT",
};

// From version i + 1 to the next.
constexpr std::string_view kMigrations[] = {
    "ALTER TABLE snapshot ADD COLUMN program TEXT NOT NULL DEFAULT ''",
};
static_assert(std::size(kMigrations) == kStateVersion - 1);

}  // namespace

void create_schema(const Database& database) {
  for (const auto table : kTables) database.run(table);
  database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.run(fmt::format("PRAGMA user_version = {}", kStateVersion));
}

void migrate_schema(const Database& database, int version) {
  for (auto i = version; i < kStateVersion; ++i) database.run(kMigrations[i - 1]);
  database.run(fmt::format("PRAGMA user_version = {}", kStateVersion));
}

}  // namespace phsic
