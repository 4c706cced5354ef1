#include "tests/cli/files.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace phsic::test {
namespace {

void require(bool kept, const char* what) {
  if (!kept) throw std::runtime_error(what);
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string compress(std::string_view bytes, const std::string& how) {
  const std::unique_ptr<archive, int (*)(archive*)> out(archive_write_new(), archive_write_free);
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  constexpr std::size_t kOverhead = 1 << 20;
  std::string packed(bytes.size() * 2 + kOverhead, '\0');
  std::size_t used = 0;
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  require(
      archive_write_add_filter_by_name(out.get(), how.c_str()) == ARCHIVE_OK &&
          archive_write_set_format_raw(out.get()) == ARCHIVE_OK &&
          // No padding after the compressed bytes.
          archive_write_set_bytes_in_last_block(out.get(), 1) == ARCHIVE_OK &&
          archive_write_open_memory(out.get(), packed.data(), packed.size(), &used) == ARCHIVE_OK &&
          archive_write_header(out.get(), entry.get()) == ARCHIVE_OK &&
          archive_write_data(out.get(), bytes.data(), bytes.size()) ==
              static_cast<la_ssize_t>(bytes.size()) &&
          archive_write_close(out.get()) == ARCHIVE_OK,
      "a test's bytes cannot be compressed");
  packed.resize(used);
  return packed;
}

Pipe::Pipe() { require(::pipe(ends_) == 0, "pipe"); }

Pipe::~Pipe() {
  close_out();
  close_in();
}

void Pipe::write(std::string_view bytes) const {
  require(::write(ends_[1], bytes.data(), bytes.size()) == static_cast<::ssize_t>(bytes.size()),
          "a pipe cannot be written to");
}

void Pipe::close_out() {
  if (ends_[0] >= 0) ::close(ends_[0]);
  ends_[0] = -1;
}

void Pipe::close_in() {
  if (ends_[1] >= 0) ::close(ends_[1]);
  ends_[1] = -1;
}

Redirect::Redirect(int fd, const std::string& path, int flags) : fd_(fd), saved_(::dup(fd)) {
  constexpr int kMode = 0600;
  const int other = ::open(path.c_str(), flags, kMode);
  require(saved_ >= 0 && other >= 0 && ::dup2(other, fd_) == fd_, "redirect");
  ::close(other);
}

Redirect::~Redirect() {
  ::dup2(saved_, fd_);
  ::close(saved_);
}

Row copy_row(const RowBatch& batch, std::size_t i) {
  Row row{std::string(batch.line(i)), batch.line_number(i), std::string(batch.problem(i)), {}};
  for (std::size_t c = 0; c < batch.field_count(i); ++c) row.fields.emplace_back(batch.field(i, c));
  return row;
}

std::vector<Row> read_rows(Table& table, std::size_t batch_rows) {
  std::vector<Row> rows;
  RowBatch batch;
  while (table.read(batch, batch_rows) > 0) {
    for (std::size_t i = 0; i < batch.size(); ++i) rows.push_back(copy_row(batch, i));
  }
  return rows;
}

std::vector<Row> read_rows(const std::string& path, const TableOptions& options,
                           std::size_t batch_rows) {
  Table table(path, options);
  return read_rows(table, batch_rows);
}

std::vector<Column> columns(std::initializer_list<const char*> names) {
  std::vector<Column> columns;
  for (const char* name : names) columns.push_back({name, true, false});
  return columns;
}

}  // namespace phsic::test
