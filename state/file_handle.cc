#include "state/file_handle.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace phsic {

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) close(descriptor_);
}

void FileHandle::hold(const std::string& file) {
  if (descriptor_ >= 0) {
    if (!is_other(file)) return;
    close(descriptor_);
  }
  descriptor_ = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

bool FileHandle::is_other(const std::string& file) const {
  struct stat ours {};
  struct stat theirs {};
  if (descriptor_ < 0 || stat(file.c_str(), &theirs) != 0) return false;
  return fstat(descriptor_, &ours) != 0 || ours.st_dev != theirs.st_dev ||
         ours.st_ino != theirs.st_ino;
}

bool FileHandle::lock() const {
  // Another error than this one says that there are no locks here, not that somebody has it.
  return descriptor_ < 0 || flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace phsic
