// A new folder for the files of a test or benchmark, removed with everything in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace phsic::test {

class Folder {
 public:
  explicit Folder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string pattern = parent / "phsic_test_XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder " + pattern);
    folder_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;

  [[nodiscard]] std::string path(std::string_view name) const { return folder_ / name; }
  // Writes a file and gives its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    const auto written = path(name);
    std::ofstream file(written, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + written);
    return written;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace phsic::test
