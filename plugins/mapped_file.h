// A file's bytes in memory, read-only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace phsic::plugins {

class MappedFile {
 public:
  // Throws std::invalid_argument with the path and the reason.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;

  [[nodiscard]] std::string_view bytes() const { return {data_, size_}; }
  // For interfaces that want a pointer to what they could, but do not, write.
  [[nodiscard]] char* data() { return data_; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace phsic::plugins
