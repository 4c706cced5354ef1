// Real files for tests: compressed copies, and pipes whose other end somebody else holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/table/table.h"
#include "tests/folder.h"

namespace phsic::test {

[[nodiscard]] std::string read_file(const std::string& path);

inline constexpr const char* kCompressions[] = {"gzip", "bzip2", "xz", "zstd"};
// By one of kCompressions.
[[nodiscard]] std::string compress(std::string_view bytes, const std::string& how);

class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  Pipe(Pipe&&) = delete;
  Pipe& operator=(Pipe&&) = delete;

  // Paths that open its two ends again.
  [[nodiscard]] std::string out() const { return "/dev/fd/" + std::to_string(ends_[0]); }
  [[nodiscard]] std::string in() const { return "/dev/fd/" + std::to_string(ends_[1]); }
  void write(std::string_view bytes) const;
  void close_out();
  void close_in();

 private:
  int ends_[2] = {-1, -1};
};

// While it lives, another file stands at a descriptor, such as standard input.
class Redirect {
 public:
  Redirect(int fd, const std::string& path, int flags);
  ~Redirect();
  Redirect(const Redirect&) = delete;
  Redirect& operator=(const Redirect&) = delete;
  Redirect(Redirect&&) = delete;
  Redirect& operator=(Redirect&&) = delete;

 private:
  int fd_;
  int saved_;
};

// A row that outlives its batch.
struct Row {
  std::string line;
  std::uint64_t number = 0;
  std::string problem;
  std::vector<std::string> fields;

  bool operator==(const Row&) const = default;
};

[[nodiscard]] Row copy_row(const RowBatch& batch, std::size_t i);
// All rows, in batches of so many.
[[nodiscard]] std::vector<Row> read_rows(Table& table, std::size_t batch_rows = 100);
[[nodiscard]] std::vector<Row> read_rows(const std::string& path, const TableOptions& options,
                                         std::size_t batch_rows = 100);

// Required columns.
[[nodiscard]] std::vector<Column> columns(std::initializer_list<const char*> names);

}  // namespace phsic::test
