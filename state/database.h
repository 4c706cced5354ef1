// SQLite with its errors as exceptions and its handles as values.
//
// A Database belongs to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace phsic {

class DatabaseError : public Error {
 public:
  DatabaseError(int code, const std::string& message) : Error(message), code_(code) {}
  // SQLite's extended code.
  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] bool is_full() const { return (code_ & 0xff) == SQLITE_FULL; }

 private:
  int code_;
};

// Removes a database and what SQLite may have beside it. Throws a std::filesystem error.
void remove_database(const std::string& file);

class Database {
 public:
  // kReadAlone makes no file beside it. REQUIRES: nobody has it open, and it has no log.
  enum class Access { kRead, kReadAlone, kWrite, kCreate };

  // Throws a DatabaseError.
  Database(const std::string& file, Access access);

  [[nodiscard]] const std::string& file() const { return file_; }

  // A prepared statement. Parameters count from 1, columns from 0. It must not outlive the
  // Database.
  class Statement {
   public:
    Statement& bind(int parameter, std::int64_t value);
    Statement& bind(int parameter, double value);
    Statement& bind(int parameter, std::string_view text);
    // The bytes stay the caller's until the next reset.
    Statement& bind_bytes(int parameter, std::span<const char> bytes);

    // Is there another row?
    [[nodiscard]] bool step();
    // Runs a statement that gives no rows, and resets it.
    void run();
    void reset();

    // Valid until the next step.
    [[nodiscard]] std::int64_t whole(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string_view text(int column) const;
    [[nodiscard]] std::span<const char> bytes(int column) const;

   private:
    friend class Database;
    Statement(const Database& database, std::string_view sql);

    const Database* database_;
    std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> handle_;
  };

  [[nodiscard]] Statement prepare(std::string_view sql) const { return {*this, sql}; }
  void run(std::string_view sql) const { prepare(sql).run(); }
  // The first column of the first row.
  [[nodiscard]] std::int64_t number(std::string_view sql) const;

  // Everything in `work`, or nothing.
  void transact(const std::function<void()>& work) const;
  // All that `work` reads is of one moment, whatever others write meanwhile.
  void look(const std::function<void()>& work) const;

  // Is the open file no longer the one of that name?
  [[nodiscard]] bool has_moved() const;

  // Copies all of it into a new database, while others go on writing.
  void back_up(const std::string& to) const;

  [[nodiscard]] std::int64_t last_insert() const;

  // Pages in SQLite's log that the last try could not bring into the file: somebody reads what was
  // there before them, or the disk fails.
  [[nodiscard]] int waiting_pages() const { return *waiting_pages_; }

 private:
  [[noreturn]] void fail(int code) const;
  void within(std::string_view begin, const std::function<void()>& work) const;

  std::string file_;
  std::unique_ptr<int> waiting_pages_ = std::make_unique<int>(0);  // SQLite writes to it
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
};

}  // namespace phsic
