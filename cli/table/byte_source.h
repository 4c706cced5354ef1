// The bytes of a file or a pipe, decompressed if their beginning says that they are compressed:
// gzip, bzip2, xz or zstd, also several compressed parts one after the other. The name of the file
// says nothing. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace phsic {

// How to read what is still being written.
struct Following {
  // Waits at the end of a regular file for more. An Error if the file becomes shorter.
  bool past_the_end = false;
  // Asked several times a second while there is nothing to read: true ends the bytes there. May be
  // empty.
  std::function<bool()> should_end = {};
};

class ByteSource {
 public:
  // Opens `path`, or standard input for "-". Reads nothing yet. Throws an Error that names the file
  // and the reason.
  explicit ByteSource(const std::string& path, Following following = {});
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ByteSource(ByteSource&&) = delete;
  ByteSource& operator=(ByteSource&&) = delete;

  // The next bytes, none at the end; valid until the next call. Plain bytes and gzip come as soon
  // as read(2) gives some, the others in blocks of their own. Throws an Error when the file cannot
  // be read or is damaged, after having given what came before: all of it for gzip, all but the
  // last block (64 KiB or so) for the others.
  [[nodiscard]] std::string_view read();

  // For messages: the path, or "standard input".
  [[nodiscard]] const std::string& name() const;
  // Bytes taken from the file, as they are there.
  [[nodiscard]] std::uint64_t bytes_read() const;
  // Bytes that there were to take when it was opened, if it is a regular file.
  [[nodiscard]] std::optional<std::uint64_t> size() const;

  class File;     // private to the .cc
  class Decoder;  // private to the .cc

 private:
  std::unique_ptr<File> file_;
  std::unique_ptr<Decoder> decoder_;  // chosen at the first read
};

}  // namespace phsic
