// Where rows come from: a table (table.h), or two files of lines that belong together
// (aligned_files.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/table/row_batch.h"

namespace phsic {

class RowSource {
 public:
  RowSource() = default;
  virtual ~RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  RowSource(RowSource&&) = delete;
  RowSource& operator=(RowSource&&) = delete;

  enum class Wait : std::uint8_t {
    kForAll,  // for max_rows, or the end
    kForOne,  // for one row; more only if they are there already
  };

  // Fills the batch with the next rows and gives their number, 0 at the end. Stops before max_rows
  // when the batch is some MiB large. Throws an Error that names the file when the rest cannot be
  // read, after the rows before it have been given.
  virtual std::size_t read(RowBatch& batch, std::size_t max_rows, Wait wait = Wait::kForAll) = 0;

  // For messages: what is read.
  [[nodiscard]] virtual const std::string& name() const = 0;
  // How far it is: of the files' own bytes, compressed or not. The size is known of regular files.
  [[nodiscard]] virtual std::uint64_t bytes_read() const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const = 0;

  // Beyond this a batch is not filled, however few its rows.
  static constexpr std::size_t kBatchBytes = std::size_t{8} << 20;
};

}  // namespace phsic
