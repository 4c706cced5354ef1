// The bytes of a file from front to back, plain or compressed by gzip; its content tells which.
// For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;  // zlib's

namespace phsic::plugins {

class FileReader {
 public:
  // A line that is longer is refused, so that a wrong file does not fill the memory.
  static constexpr std::size_t kLongestLine = std::size_t{4} << 20U;

  // Throws std::invalid_argument with the path and the reason, as all functions here do.
  explicit FileReader(const std::string& path);

  [[nodiscard]] const std::string& name() const { return name_; }
  // An upper bound of the bytes to come, however well they are compressed.
  [[nodiscard]] std::uint64_t most_bytes() const { return most_bytes_; }
  // How many bytes were taken, after decompression.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  // The next `size` bytes, or fewer at the end. Valid until the next call.
  [[nodiscard]] std::string_view peek(std::size_t size);
  // REQUIRES: peek() has given these bytes.
  void skip(std::size_t size);
  // The next line without its end, LF or CR LF; false when there is none. Valid until the next
  // call.
  [[nodiscard]] bool take_line(std::string_view& line);

 private:
  void measure(int descriptor);
  // Reads more of the file; false at the end.
  bool fill();

  std::string name_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  std::uint64_t most_bytes_ = 0;
  std::uint64_t offset_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what is not taken
  std::size_t end_ = 0;
};

}  // namespace phsic::plugins
