#include "state/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

namespace phsic {
namespace {

// How long to wait for a tool that reads or copies the file.
constexpr int kBusyMilliseconds = 10000;
// The log is written into the file when it has so many.
constexpr int kLogFrames = 1000;

// What people wrote is in it. SQLite gives the files beside it the same mode. If it cannot be made,
// SQLite says so.
void make_private(const std::string& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (descriptor >= 0) close(descriptor);
}

int flags_of(Database::Access access) {
  switch (access) {
    case Database::Access::kRead: return SQLITE_OPEN_READONLY;
    case Database::Access::kReadAlone: return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    case Database::Access::kWrite: return SQLITE_OPEN_READWRITE;
    default: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
}

// SQLite takes it for one that nobody changes, and needs no locks.
std::string immutable_uri(const std::string& file) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

// As SQLite does by itself, and notes down how far that got.
int write_log_into_file(void* waiting_pages, sqlite3* handle, const char* name, int frames) {
  auto& waiting = *static_cast<int*>(waiting_pages);
  waiting = frames;
  if (frames < kLogFrames) return SQLITE_OK;
  int all = 0;
  int done = 0;
  sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, &all, &done);
  if (all >= 0 && done >= 0) waiting = all - done;
  return SQLITE_OK;
}

}  // namespace

void remove_database(const std::string& file) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(file + suffix);
  }
}

Database::Database(const std::string& file, Access access)
    : file_(file), handle_(nullptr, sqlite3_close_v2) {
  if (access == Access::kCreate) make_private(file);
  sqlite3* handle = nullptr;
  const auto name = access == Access::kReadAlone ? immutable_uri(file) : file;
  const int code =
      sqlite3_open_v2(name.c_str(), &handle, flags_of(access) | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  // The schema of a file from somewhere may hold anything.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  run("PRAGMA trusted_schema = OFF");
  run("PRAGMA cell_size_check = ON");
  if (access == Access::kWrite || access == Access::kCreate) {
    sqlite3_wal_hook(handle, write_log_into_file, waiting_pages_.get());
  }
}

void Database::fail(int code) const {
  const char* message = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_.get());
  throw DatabaseError(handle_ == nullptr ? code : sqlite3_extended_errcode(handle_.get()),
                      fmt::format("{}: {}", file_, message));
}

Database::Statement::Statement(const Database& database, std::string_view sql)
    : database_(&database), handle_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(database.handle_.get(), sql.data(),
                                      static_cast<int>(sql.size()), &handle, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) database.fail(code);
}

Database::Statement& Database::Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(handle_.get(), parameter, value);
  return *this;
}

Database::Statement& Database::Statement::bind(int parameter, double value) {
  sqlite3_bind_double(handle_.get(), parameter, value);
  return *this;
}

Database::Statement& Database::Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(handle_.get(), parameter, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Database::Statement& Database::Statement::bind_bytes(int parameter, std::span<const char> bytes) {
  sqlite3_bind_blob64(handle_.get(), parameter, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}

bool Database::Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_->fail(code);
  return false;
}

void Database::Statement::run() {
  while (step()) {
  }
  reset();
}

void Database::Statement::reset() {
  sqlite3_reset(handle_.get());
  sqlite3_clear_bindings(handle_.get());
}

std::int64_t Database::Statement::whole(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

double Database::Statement::real(int column) const {
  return sqlite3_column_double(handle_.get(), column);
}

std::string_view Database::Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

std::span<const char> Database::Statement::bytes(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return {bytes, bytes == nullptr
                     ? 0
                     : static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

std::int64_t Database::number(std::string_view sql) const {
  auto statement = prepare(sql);
  return statement.step() ? statement.whole(0) : 0;
}

void Database::transact(const std::function<void()>& work) const {
  within("BEGIN IMMEDIATE", work);
}

void Database::look(const std::function<void()>& work) const { within("BEGIN", work); }

void Database::within(std::string_view begin, const std::function<void()>& work) const {
  run(begin);
  try {
    work();
    run("COMMIT");
  } catch (...) {
    // SQLite may have rolled back by itself.
    if (sqlite3_get_autocommit(handle_.get()) == 0) {
      sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
    throw;
  }
}

bool Database::has_moved() const {
  int moved = 0;
  const int code = sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code == SQLITE_OK && moved != 0;
}

void Database::back_up(const std::string& to) const {
  if (std::filesystem::exists(to)) {
    throw Error(fmt::format("{}: found a file, expected none to write the copy to", to));
  }
  make_private(to);
  auto statement = prepare("VACUUM INTO ?");
  statement.bind(1, to);
  statement.run();
}

std::int64_t Database::last_insert() const { return sqlite3_last_insert_rowid(handle_.get()); }

}  // namespace phsic
