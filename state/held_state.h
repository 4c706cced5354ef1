// The state file as the state writer has it: open, or closed after an error until it is opened
// again. For the state writer's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "state/file_handle.h"
#include "state/state_file.h"
#include "state/state_lock.h"

namespace phsic {

class HeldState {
 public:
  // Opens the file, or makes one. The lock is that of the file, and outlives this.
  HeldState(StateLock& lock, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_open() const { return file_ != nullptr; }
  // REQUIRES: is_open().
  [[nodiscard]] StateFile& file() { return *file_; }

  // Does all of `work` in one transaction. Throws an Error, too, when the file has been removed or
  // replaced: an open file that has lost its name is gone with the process. REQUIRES: is_open().
  void commit(const std::function<void()>& work) const;
  void close();
  // Opens the same file, or a new one where there is none any more, and does `work` in its first
  // transaction. If anything fails the file is closed, and a new one removed. REQUIRES: not
  // is_open().
  void open_again(const std::function<void()>& work);

 private:
  void open();

  StateLock& lock_;
  const std::string name_;
  FileHandle log_;                   // SQLite's, to know it again
  std::unique_ptr<StateFile> file_;  // null: closed
};

}  // namespace phsic
