#include "state/state_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/archive.h"
#include "state/state_file.h"

namespace phsic {
namespace {

// Where a stream's mark stands: at its id times this. docs/state.md describes it.
constexpr std::size_t kSlot = 32;
constexpr std::size_t kMostStreams = 1U << 19U;

std::string lock_of(const std::string& file) { return file + "-lock"; }

std::uint64_t checksum_of(std::uint32_t stream, const std::string& content) {
  return XXH3_64bits_withSeed(content.data(), content.size(), stream);
}

[[noreturn]] void refuse_use(const std::string& file) {
  throw Error(fmt::format("{}: found it in use, expected no daemon or tool that writes it", file));
}

bool is_locked(const std::string& name) {
  const int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool is_locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return is_locked;
}

std::string slot_of(std::uint32_t stream, double created, const StateMark& mark) {
  Writer writer;
  writer.number(mark.number);
  writer.number(mark.pairs);
  writer.number(created);
  writer.number(checksum_of(stream, writer.bytes()));
  return writer.bytes();
}

// Any time of creation will do where none is given.
std::optional<StateMark> read_slot(const std::string& marks, std::uint32_t stream,
                                   std::optional<double> created) {
  const auto start = kSlot * stream;
  if (marks.size() < start + kSlot) return std::nullopt;
  const auto found = marks.substr(start, kSlot);
  Reader reader(found);
  StateMark mark;
  mark.number = reader.number<std::uint64_t>("number");
  mark.pairs = reader.number<std::uint64_t>("pairs");
  const auto noted = reader.number<double>("created");
  if (found != slot_of(stream, created.value_or(noted), mark)) return std::nullopt;
  return mark;
}

}  // namespace

std::string describe_shortfall(std::uint64_t last, const StateMark& mark) {
  return fmt::format(
      "found its last entry to be {}, expected at least {}: the file or its log was cut short, or "
      "is an older copy",
      last, mark.number);
}

StateLock::StateLock(const std::string& file) : file_(file) {
  const auto name = lock_of(file);
  descriptor_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (descriptor_ < 0) {
    throw Error(
        fmt::format("{}: {}, expected a file that can be written", name, std::strerror(errno)));
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor_);
    refuse_use(file);
  }
  try {
    hold_state();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

bool StateLock::is_held(const std::string& file) {
  return is_locked(lock_of(file)) || is_locked(file);
}

// The file stays: another process may be about to lock it.
StateLock::~StateLock() { close(descriptor_); }

void StateLock::hold_state() {
  state_.hold(file_);
  if (!state_.lock()) refuse_use(file_);
}

void StateLock::note(std::uint32_t stream, double created, const StateMark& mark) {
  restore_if_removed();
  const auto slot = slot_of(stream, created, mark);
  // A mark that is missing or torn only tells less.
  static_cast<void>(!pwrite(descriptor_, slot.data(), slot.size(),
                            static_cast<off_t>(stream) * static_cast<off_t>(kSlot)));
}

void StateLock::forget_marks() const { static_cast<void>(!ftruncate(descriptor_, 0)); }

// If it cannot be done now, the next mark does it.
void StateLock::restore_if_removed() {
  struct stat ours {};
  struct stat theirs {};
  const auto name = lock_of(file_);
  if (fstat(descriptor_, &ours) != 0) return;
  if (stat(name.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
      ours.st_ino == theirs.st_ino) {
    return;
  }
  const int made = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (made < 0) return;
  std::string marks(std::min<std::size_t>(ours.st_size, kSlot * kMostStreams), '\0');
  const auto size = static_cast<ssize_t>(marks.size());
  if (flock(made, LOCK_EX | LOCK_NB) != 0 ||
      pread(descriptor_, marks.data(), marks.size(), 0) != size ||
      pwrite(made, marks.data(), marks.size(), 0) != size) {
    close(made);
    return;
  }
  close(descriptor_);
  descriptor_ = made;
}

StateMarks::StateMarks(const std::string& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(lock_of(file), missing);
  if (missing) return;
  // A file from somewhere may be of any size.
  bytes_.resize(std::min<std::uintmax_t>(size, kSlot * kMostStreams));
  std::ifstream marks(lock_of(file), std::ios::binary);
  marks.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  bytes_.resize(static_cast<std::size_t>(marks.gcount()));
}

std::optional<StateMark> StateMarks::find(const StreamRecord& stream) const {
  return read_slot(bytes_, stream.id, stream.created);
}

std::vector<StateMark> StateMarks::all() const {
  std::vector<StateMark> found;
  for (std::uint32_t id = 1; kSlot * (id + 1) <= bytes_.size(); ++id) {
    if (const auto mark = read_slot(bytes_, id, std::nullopt)) found.push_back(*mark);
  }
  return found;
}

}  // namespace phsic
