#include "plugins/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "plugins/path_fault.h"

namespace phsic::plugins {

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const auto fail = [&](const std::string& reason) {
    if (file >= 0) close(file);
    throw std::invalid_argument(fmt::format("{}: {}", path, reason));
  };
  struct stat facts {};
  if (file < 0) throw std::invalid_argument(path_fault(path, errno));
  if (fstat(file, &facts) != 0) fail(std::strerror(errno));
  if (!S_ISREG(facts.st_mode) || facts.st_size == 0) {
    fail("found no regular file or an empty one, expected a model");
  }
  size_ = static_cast<std::size_t>(facts.st_size);
  void* data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) fail(std::strerror(errno));
  close(file);
  data_ = static_cast<char*>(data);
}

MappedFile::~MappedFile() { munmap(data_, size_); }

}  // namespace phsic::plugins
