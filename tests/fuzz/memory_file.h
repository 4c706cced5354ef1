// A file in memory, for fuzz targets of what opens files by their path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace phsic::fuzz {

class MemoryFile {
 public:
  // Each has a name of its own, by which outputs are told apart.
  explicit MemoryFile(std::string_view bytes = {})
      : fd_(::memfd_create(("fuzz" + std::to_string(++made_)).c_str(), MFD_CLOEXEC)) {
    const auto size = static_cast<::ssize_t>(bytes.size());
    if (fd_ < 0 || ::write(fd_, bytes.data(), bytes.size()) != size) {
      throw std::runtime_error("a file in memory cannot be written");
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  MemoryFile(MemoryFile&&) = delete;
  MemoryFile& operator=(MemoryFile&&) = delete;

  [[nodiscard]] int descriptor() const { return fd_; }
  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(fd_); }

  [[nodiscard]] std::string read() const {
    std::string bytes(static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    const ::ssize_t size = ::pread(fd_, bytes.data(), bytes.size(), 0);
    if (size != static_cast<::ssize_t>(bytes.size())) {
      throw std::runtime_error("a file in memory cannot be read");
    }
    return bytes;
  }

 private:
  static inline unsigned made_ = 0;
  int fd_;
};

}  // namespace phsic::fuzz
