// An open file, only to know it again, and to keep others out.
//
// The number of an open file is not given to another one. POSIX drops all locks of a process on a
// file, SQLite's too, when it closes any handle of it. So nothing is closed here that is still the
// file of its name.
#pragma once

#include <string>

namespace phsic {

class FileHandle {
 public:
  FileHandle() = default;
  ~FileHandle();
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  FileHandle(FileHandle&&) = delete;
  FileHandle& operator=(FileHandle&&) = delete;

  // The file of that name from now on, if there is one.
  void hold(const std::string& file);
  // True if the name now names a different file; false if there is none.
  [[nodiscard]] bool is_other(const std::string& file) const;
  // Locks the file that is held. False: somebody else has. True where there is none.
  [[nodiscard]] bool lock() const;

 private:
  int descriptor_ = -1;
};

}  // namespace phsic
