// Where the bytes of a file or a pipe go, compressed if the name of the file says so: .gz, .bz2,
// .xz or .zst. The counterpart of ByteSource. What a terminal gets is made fit for it
// (wire/printable.h), line by line. Buffered. Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"

namespace phsic {

// The output could not be written. code() is the errno: EPIPE when nobody reads any more, which one
// sees only if SIGPIPE is ignored; 0 if the library that compresses gave none.
class WriteError : public Error {
 public:
  WriteError(const std::string& message, int code) : Error(message), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

// After a WriteError nothing is tried again, and every function throws it again.
class ByteSink {
 public:
  // Creates or overwrites the file `path`, or writes to standard output for "-", which is never
  // compressed. Throws a WriteError that names the file and the reason, as all functions here do.
  explicit ByteSink(const std::string& path);
  // Hands over what is left, without telling whether that worked. A compressed file that was not
  // finished lacks its end, so that whoever decompresses it is told that something is missing; it
  // may be empty where the library has kept all of it back.
  ~ByteSink();
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  ByteSink(ByteSink&&) = delete;
  ByteSink& operator=(ByteSink&&) = delete;

  // REQUIRES: whole lines, so that none is cut in two before a terminal.
  void write(std::string_view bytes);
  // Hands everything to the system. gzip can be decompressed up to here; the others wait until
  // their block is full.
  void flush();
  // Writes what is left and closes; nothing may be written after it.
  void finish();

  // For messages: the path, or "standard output".
  [[nodiscard]] const std::string& name() const;

  class File;     // private to the .cc
  class Encoder;  // private to the .cc

 private:
  void hand_over();
  // Does it unless an earlier error has been thrown, and remembers an error.
  template <class Action>
  void attempt(const Action& action);

  std::unique_ptr<File> file_;
  std::unique_ptr<Encoder> encoder_;
  std::string buffer_;
  std::unique_ptr<WriteError> failure_;
  bool finished_ = false;
};

}  // namespace phsic
