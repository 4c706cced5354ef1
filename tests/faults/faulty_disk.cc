// A disk that fails on demand, and a clock that jumps: a library for LD_PRELOAD.
//
// It stands between a program and the kernel for all files whose paths begin with FAULTY_PATH, and
// does what the file FAULTY_CONTROL says at that moment. Nothing, or no file: all is well. Else the
// first word is
//
//   ENOSPC      writing fails: the disk is full
//   SHORT       of every two writes, one writes about half, in whole sectors, and one fails: the
//               disk fills up
//   EROFS       writing fails, and so does opening to write
//   EIO         writing fails
//   FSYNC       writing works, and fsync fails
//   DEAD        reading, writing and fsync fail
//   CLOCK S     nothing fails, but the real-time clock is S seconds off, for the whole process
//
// With FAULTY_KILL_AT=N the process is killed just before it changes these files for the Nth time:
// by a write, a truncation, an fsync, or a file that is renamed or removed.
//
// With FAULTY_LOG it also writes down there what was done to these files, for power_failure.py.
//
// Everything goes to the kernel by syscall(), so that other libraries in between, such as a
// sanitizer, do not matter.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

namespace {

constexpr std::size_t kSector = 512;

// The beginning of the control file.
struct Control {
  char text[64] = {};

  Control() {
    const char* path = std::getenv("FAULTY_CONTROL");
    if (path == nullptr) return;
    const int saved = errno;
    const auto fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
    if (fd >= 0) {
      syscall(SYS_read, fd, text, sizeof text - 1);
      syscall(SYS_close, fd);
    }
    errno = saved;
  }

  [[nodiscard]] bool says(const char* word) const {
    return std::strncmp(text, word, std::strlen(word)) == 0;
  }
  // What writing fails with, or 0.
  [[nodiscard]] int write_error() const {
    if (says("ENOSPC")) return ENOSPC;
    if (says("EROFS")) return EROFS;
    if (says("EIO") || says("DEAD")) return EIO;
    return 0;
  }
  [[nodiscard]] int sync_error() const { return says("FSYNC") || says("DEAD") ? EIO : 0; }
};

bool is_faulty(const char* path) {
  const char* prefix = std::getenv("FAULTY_PATH");
  return prefix != nullptr && std::strncmp(path, prefix, std::strlen(prefix)) == 0;
}

struct Path {
  char text[PATH_MAX] = {};

  explicit Path(int fd) {
    const int saved = errno;
    char link[32];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, text, sizeof text - 1) < 0) text[0] = '\0';
    errno = saved;
  }
};

// Called before each change.
void die_if_due() {
  static std::atomic<long> changes{0};
  const char* last = std::getenv("FAULTY_KILL_AT");
  if (last != nullptr && ++changes == std::atol(last)) syscall(SYS_kill, getpid(), SIGKILL);
}

int fail(int error) {
  errno = error;
  return -1;
}

// What was done to a file: letter, size of the path, offset, number of bytes; path and bytes.
void log(char what, const char* path, std::int64_t offset, const void* bytes, std::size_t size) {
  static std::mutex guards_log;
  static const int fd = [] {
    const char* name = std::getenv("FAULTY_LOG");
    if (name == nullptr) return -1;
    return static_cast<int>(
        syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }();
  if (fd < 0) return;
  const int saved = errno;
  const std::lock_guard lock(guards_log);
  char head[64];
  const int length = std::snprintf(head, sizeof head, "%c %zu %lld %zu\n", what, std::strlen(path),
                                   static_cast<long long>(offset), size);
  syscall(SYS_write, fd, head, length);
  syscall(SYS_write, fd, path, std::strlen(path));
  if (size > 0) syscall(SYS_write, fd, bytes, size);
  errno = saved;
}

// offset < 0: where the file stands.
ssize_t write_somewhere(int fd, const void* bytes, std::size_t size, off_t offset) {
  const auto write_now = [&](std::size_t count) {
    return offset < 0 ? syscall(SYS_write, fd, bytes, count)
                      : syscall(SYS_pwrite64, fd, bytes, count, offset);
  };
  const Path path(fd);
  if (!is_faulty(path.text)) return write_now(size);
  die_if_due();
  const Control control;
  if (const int error = control.write_error(); error != 0) return fail(error);
  std::size_t count = size;
  if (control.says("SHORT")) {
    static std::atomic<unsigned> calls{0};
    count = size / 2 / kSector * kSector;
    if (calls++ % 2 == 1 || count == 0) return fail(ENOSPC);
  }
  const std::int64_t begins = offset < 0 ? syscall(SYS_lseek, fd, 0, SEEK_CUR) : offset;
  const ssize_t written = write_now(count);
  if (written > 0) log('w', path.text, begins, bytes, static_cast<std::size_t>(written));
  return written;
}

ssize_t read_somewhere(int fd, void* bytes, std::size_t size, off_t offset) {
  if (is_faulty(Path(fd).text) && Control().says("DEAD")) return fail(EIO);
  return offset < 0 ? syscall(SYS_read, fd, bytes, size)
                    : syscall(SYS_pread64, fd, bytes, size, offset);
}

int sync_with(long call, int fd) {
  const Path path(fd);
  if (is_faulty(path.text)) {
    die_if_due();
    if (const int error = Control().sync_error(); error != 0) return fail(error);
  }
  const auto done = static_cast<int>(syscall(call, fd));
  if (done == 0 && is_faulty(path.text)) log('s', path.text, 0, nullptr, 0);
  return done;
}

int truncate_to(int fd, off_t size) {
  const Path path(fd);
  if (is_faulty(path.text)) {
    die_if_due();
    if (const int error = Control().write_error(); error != 0) return fail(error);
  }
  const auto done = static_cast<int>(syscall(SYS_ftruncate, fd, size));
  if (done == 0 && is_faulty(path.text)) log('t', path.text, size, nullptr, 0);
  return done;
}

int open_at(int folder, const char* path, int flags, mode_t mode) {
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 && is_faulty(path) && Control().says("EROFS")) {
    return fail(EROFS);
  }
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

// The third argument of open().
mode_t mode_of(int flags, va_list rest) {
  const bool has_one = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_one ? va_arg(rest, mode_t) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, size_t size) {
  return write_somewhere(fd, bytes, size, -1);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return write_somewhere(fd, bytes, size, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  return write_somewhere(fd, bytes, size, offset);
}

ssize_t read(int fd, void* bytes, size_t size) { return read_somewhere(fd, bytes, size, -1); }
ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  return read_somewhere(fd, bytes, size, offset);
}
ssize_t pread64(int fd, void* bytes, size_t size, off64_t offset) {
  return read_somewhere(fd, bytes, size, offset);
}

int fsync(int fd) { return sync_with(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

int ftruncate(int fd, off_t size) noexcept { return truncate_to(fd, size); }
int ftruncate64(int fd, off64_t size) noexcept { return truncate_to(fd, size); }

int rename(const char* from, const char* to) noexcept {
  if (is_faulty(to)) die_if_due();
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(const char* path) noexcept {
  if (is_faulty(path)) die_if_due();
  const auto done = static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  if (done == 0 && is_faulty(path)) log('u', path, 0, nullptr, 0);
  return done;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_at(folder, path, flags, mode);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto done = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (done == 0 && clock == CLOCK_REALTIME) {
    const Control control;
    if (control.says("CLOCK ")) now->tv_sec += std::atol(control.text + std::strlen("CLOCK "));
  }
  return done;
}

}  // extern "C"
