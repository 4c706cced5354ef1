// A new state file in the place of one that is damaged or does not fit any more.
//
// The new one is written beside the old one, which is only read meanwhile. Once it is whole and on
// the disk it takes the old one's place, and the old one keeps its bytes, and its log, under
// another name. If the process ends before that, nothing has happened; if it ends in the middle of
// it, finish_replacement() does the rest.
#pragma once

#include <memory>
#include <string>

#include "state/state_file.h"

namespace phsic {

class Replacement {
 public:
  // REQUIRES: the caller holds the lock of the file. Throws an Error.
  explicit Replacement(const std::string& file);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  Replacement(Replacement&&) = delete;
  Replacement& operator=(Replacement&&) = delete;

  [[nodiscard]] StateFile& made() { return *made_; }

  // The old file becomes FILE.old-N, N greater than that of any other. Returns its name. REQUIRES:
  // nobody has it open any more.
  std::string finish();

 private:
  const std::string file_;
  std::unique_ptr<StateFile> made_;
};

// Returns the name of the old file if there was something left to do, else an empty text. REQUIRES:
// the caller holds the lock of the file, and nobody has it open.
std::string finish_replacement(const std::string& file);

}  // namespace phsic
