#include "state/state_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
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

std::string slot_of(std::uint32_t stream, double created, const StateMark& mark) {
  Writer writer;
  writer.number(mark.number);
  writer.number(mark.pairs);
  writer.number(created);
  writer.number(checksum_of(stream, writer.bytes()));
  return writer.bytes();
}

}  // namespace

std::string describe_shortfall(std::uint64_t last, const StateMark& mark) {
  return fmt::format(
      "found its last entry to be {}, expected at least {}: the file or its log was cut short, or "
      "is an older copy",
      last, mark.number);
}

StateLock::StateLock(const std::string& file) {
  const auto name = lock_of(file);
  descriptor_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (descriptor_ < 0) {
    throw Error(
        fmt::format("{}: {}, expected a file that can be written", name, std::strerror(errno)));
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor_);
    throw Error(
        fmt::format("{}: found it in use, expected no daemon or tool that writes it", file));
  }
}

bool StateLock::is_held(const std::string& file) {
  const int descriptor = open(lock_of(file).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return held;
}

// The file stays: another process may be about to lock it.
StateLock::~StateLock() { close(descriptor_); }

void StateLock::note(std::uint32_t stream, double created, const StateMark& mark) const {
  const auto slot = slot_of(stream, created, mark);
  // A mark that is missing or torn only tells less.
  static_cast<void>(!pwrite(descriptor_, slot.data(), slot.size(),
                            static_cast<off_t>(stream) * static_cast<off_t>(kSlot)));
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
  const auto start = kSlot * stream.id;
  if (bytes_.size() < start + kSlot) return std::nullopt;
  const auto found = bytes_.substr(start, kSlot);
  Reader reader(found);
  StateMark mark;
  mark.number = reader.number<std::uint64_t>("number");
  mark.pairs = reader.number<std::uint64_t>("pairs");
  if (found != slot_of(stream.id, stream.created, mark)) return std::nullopt;
  return mark;
}

}  // namespace phsic
