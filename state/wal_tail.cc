#include "state/wal_tail.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include "core/error.h"

// The format is that of https://sqlite.org/fileformat2.html#the_write_ahead_log.
namespace phsic {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::size_t kHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
// Its last bit tells the order of the bytes that the checksums take.
constexpr std::uint32_t kMagic = 0x377f0682;
constexpr std::uint32_t kVersion = 3007000;
constexpr std::uint32_t kSmallestPage = 512;
constexpr std::uint32_t kLargestPage = 65536;

std::uint32_t big_endian(Bytes bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | std::uint32_t{bytes[at + 3]};
}

std::uint32_t little_endian(Bytes bytes, std::size_t at) {
  return std::uint32_t{bytes[at + 3]} << 24 | std::uint32_t{bytes[at + 2]} << 16 |
         std::uint32_t{bytes[at + 1]} << 8 | std::uint32_t{bytes[at]};
}

// Each frame goes on where the one before ended.
struct Checksum {
  std::uint32_t s0 = 0;
  std::uint32_t s1 = 0;

  // REQUIRES: a multiple of 8 bytes.
  void add(Bytes bytes, bool big) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      s0 += (big ? big_endian(bytes, i) : little_endian(bytes, i)) + s1;
      s1 += (big ? big_endian(bytes, i + 4) : little_endian(bytes, i + 4)) + s0;
    }
  }

  bool operator==(const Checksum&) const = default;
};

Checksum stored_checksum(Bytes bytes, std::size_t at) {
  return {big_endian(bytes, at), big_endian(bytes, at + 4)};
}

struct Header {
  bool big = false;
  std::uint32_t page_size = 0;
  std::array<std::uint32_t, 2> salts{};
  Checksum checksum;
};

std::array<std::uint32_t, 2> salts_at(Bytes bytes, std::size_t at) {
  return {big_endian(bytes, at), big_endian(bytes, at + 4)};
}

bool read_header(Bytes bytes, Header& header) {
  const std::uint32_t magic = big_endian(bytes, 0);
  header.big = (magic & 1) != 0;
  header.page_size = big_endian(bytes, 8);
  header.salts = salts_at(bytes, 16);
  header.checksum.add(bytes.first(24), header.big);
  return (magic & ~1U) == kMagic && big_endian(bytes, 4) == kVersion &&
         header.page_size >= kSmallestPage && header.page_size <= kLargestPage &&
         std::has_single_bit(header.page_size) && header.checksum == stored_checksum(bytes, 24);
}

class Log {
 public:
  explicit Log(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "rb")) {
    if (file_ == nullptr && errno != ENOENT) fail();
  }

  [[nodiscard]] bool exists() const { return file_ != nullptr; }

  // As many bytes as there are, up to the buffer's.
  std::size_t read(std::span<unsigned char> buffer) {
    const std::size_t found = std::fread(buffer.data(), 1, buffer.size(), file_.get());
    if (found < buffer.size() && std::ferror(file_.get()) != 0) fail();
    return found;
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[noreturn]] void fail() const {
    throw Error(fmt::format("{}: SQLite's log cannot be read: {}", path_,
                            std::generic_category().message(errno)));
  }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace

WalTail inspect_wal(const std::string& file) {
  WalTail tail;
  Log log(file + "-wal");
  if (!log.exists()) return tail;
  std::array<unsigned char, kHeaderSize> start{};
  if (log.read(start) < start.size()) return tail;
  Header header;
  if (!read_header(start, header)) {
    // SQLite syncs the header before the first frame: alone it may be torn by a crash.
    std::array<unsigned char, 1> more{};
    tail.header_is_bad = log.read(more) > 0;
    return tail;
  }
  std::vector<unsigned char> frame(kFrameHeaderSize + header.page_size);
  Checksum checksum = header.checksum;
  bool good = true;
  for (std::uint64_t number = 1; log.read(frame) == frame.size(); ++number) {
    const Bytes bytes = frame;
    const bool ours = big_endian(bytes, 0) != 0 && salts_at(bytes, 8) == header.salts;
    const bool ends_commit = ours && big_endian(bytes, 4) != 0;
    if (good) {
      checksum.add(bytes.first(8), header.big);
      checksum.add(bytes.subspan(kFrameHeaderSize), header.big);
      good = ours && checksum == stored_checksum(bytes, 16);
    }
    if (ends_commit && good) tail.frames = number;
    if (ends_commit && !good) ++tail.lost_commits;
  }
  return tail;
}

}  // namespace phsic
