// The lines of a file or a pipe, one after the other, in memory that does not grow with the input.
//
// Reads only when no whole line is left of what was read before, so that the lines of a live pipe
// come when they are written. Compressed input is decompressed, see byte_source.h. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/table/byte_source.h"

namespace phsic {

inline constexpr std::size_t kMaxLine = std::size_t{64} << 20;
// What may stand before the first line of a file of UTF-8, and is no part of it.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

class LineReader {
 public:
  // A path, or "-" for standard input. Throws an Error that names the file and the reason.
  explicit LineReader(const std::string& path, Following following = {})
      : source_(path, std::move(following)) {}

  // The next line without its '\n', valid until the next call; false at the end. What follows the
  // last '\n' is a line if it is not empty. A line longer than kMaxLine comes empty, see
  // was_too_long(). Throws an Error when the input cannot be read or is damaged; the lines before
  // that have been given, and there are none after it.
  [[nodiscard]] bool next(std::string_view& line);
  // Whether the line given last was longer than kMaxLine. Its bytes were passed over.
  [[nodiscard]] bool was_too_long() const { return too_long_; }

  // Whether next() would answer without waiting for input.
  [[nodiscard]] bool ready();

  // The number of the line given last, counted from 1.
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }
  [[nodiscard]] const std::string& name() const { return source_.name(); }
  // How far it is: of the file's own bytes, compressed or not. The size is known of regular files.
  [[nodiscard]] std::uint64_t bytes_read() const { return source_.bytes_read(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const { return source_.size(); }

 private:
  bool fill();
  void pass_over();
  void take(std::size_t end, std::string_view& line);

  ByteSource source_;
  std::string buffer_;
  std::size_t begin_ = 0;    // the next line's
  std::size_t scanned_ = 0;  // no '\n' from begin_ to here
  bool ended_ = false;       // of the source
  bool too_long_ = false;
  std::uint64_t line_number_ = 0;
};

}  // namespace phsic
