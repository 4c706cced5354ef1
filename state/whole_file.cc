#include "state/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/error.h"

namespace phsic {
namespace {

[[noreturn]] void fail(const std::string& file, std::string_view expected) {
  throw Error(
      fmt::format("{}: {}, expected {}", file, std::generic_category().message(errno), expected));
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, Close>;

void require_regular(const std::string& file, const struct stat& found) {
  if (S_ISREG(found.st_mode)) return;
  const char* const what = S_ISFIFO(found.st_mode)   ? "a pipe"
                           : S_ISDIR(found.st_mode)  ? "a folder"
                           : S_ISSOCK(found.st_mode) ? "a socket"
                                                     : "a device";
  throw Error(fmt::format("{}: found {}, expected a regular file", file, what));
}

void sync(const std::string& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, "to flush it to the disk");
  const bool done = fsync(descriptor) == 0;
  close(descriptor);
  if (!done) fail(path, "to flush it to the disk");
}

}  // namespace

void require_no_file(const std::string& file, std::string_view remedy) {
  std::error_code ignored;
  if (std::filesystem::symlink_status(file, ignored).type() !=
      std::filesystem::file_type::not_found) {
    throw Error(fmt::format("{}: found a file, expected none of that name yet{}", file, remedy));
  }
}

std::string read_whole_file(const std::string& file, std::size_t most) {
  // Without waiting for somebody who writes to a pipe.
  const int descriptor = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const OpenFile opened(descriptor < 0 ? nullptr : fdopen(descriptor, "rb"));
  if (opened == nullptr) fail(file, "a file that can be read");
  struct stat found {};
  if (fstat(descriptor, &found) != 0) fail(file, "a file that can be read");
  require_regular(file, found);
  std::string bytes;
  char buffer[1U << 16U];
  while (bytes.size() < most) {
    const auto wanted = std::min(sizeof buffer, most - bytes.size());
    const auto count = std::fread(buffer, 1, wanted, opened.get());
    bytes.append(buffer, count);
    if (count == wanted) continue;
    if (std::ferror(opened.get()) != 0) fail(file, "a file that can be read");
    break;
  }
  return bytes;
}

void write_whole_file(const std::string& name, std::string_view bytes) {
  struct stat found {};
  const bool is_there = stat(name.c_str(), &found) == 0;
  if (is_there) require_regular(name, found);
  // A link stays one, and what it points to is replaced.
  const auto file = is_there ? std::filesystem::canonical(name).string() : name;
  const auto beside = name_beside(file);
  try {
    // What people wrote is in it.
    const int descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    OpenFile made(descriptor < 0 ? nullptr : fdopen(descriptor, "wb"));
    if (made == nullptr) fail(beside, "a file that can be written");
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), made.get()) == bytes.size();
    if (!written || std::fclose(made.release()) != 0) fail(beside, "room for the file");
    move_into_place(beside, file);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw;
  }
}

std::string name_beside(const std::string& file) {
  return fmt::format("{}.part-{}", file, getpid());
}

void move_into_place(const std::string& made, const std::string& file) {
  sync(made, 0);
  if (std::rename(made.c_str(), file.c_str()) != 0) fail(file, "a name that can be given");
  sync_folder_of(file);
}

void sync_folder_of(const std::string& file) {
  const auto folder = std::filesystem::path(file).parent_path();
  sync(folder.empty() ? "." : folder.string(), O_DIRECTORY);
}

}  // namespace phsic
