#include "core/archive.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>

namespace phsic {
namespace {

constexpr std::string_view kMagic{"PHSIC\r\n\0", 8};
constexpr std::size_t kHeaderSize = 8 + 4 + 4 + 8;
constexpr std::size_t kChecksumSize = 8;

std::string printable(std::span<const char> bytes) {
  std::string shown;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    shown += code >= 0x20 && code < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", code);
  }
  return shown;
}

template <class S>
void require_finite_values(const Reader& reader, const char* field, std::span<const S> values) {
  const auto bad = std::ranges::find_if_not(values, [](S v) { return std::isfinite(v); });
  if (bad != values.end()) {
    reader.refuse(field, fmt::format("found {} at index {}, expected finite numbers", *bad,
                                     bad - values.begin()));
  }
}

}  // namespace

void Reader::refuse(const char* field, const std::string& why) const {
  throw Error(fmt::format("saved state refused: {} (before byte {} of the payload): {}", field,
                          size_ - rest_.size(), why));
}

std::span<const char> Reader::take(const char* field, std::size_t size) {
  if (size > rest_.size()) {
    refuse(field, fmt::format("found {} bytes left, expected {}", rest_.size(), size));
  }
  const std::span<const char> taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

double Reader::finite(const char* field) {
  const auto value = number<double>(field);
  if (!std::isfinite(value)) {
    refuse(field, fmt::format("found {}, expected a finite number", value));
  }
  return value;
}

std::string Reader::text(const char* field, std::size_t longest) {
  const std::vector<char> raw = array<char>(field);
  if (raw.size() > longest) {
    refuse(field, fmt::format("found {} bytes, expected at most {}", raw.size(), longest));
  }
  return {raw.begin(), raw.end()};
}

void Reader::finish() const {
  if (!rest_.empty()) {
    refuse("end", fmt::format("found {} further bytes, expected none", rest_.size()));
  }
}

void Reader::refuse_range(const char* field, double found, double low, double high) const {
  refuse(field, fmt::format("found {}, expected {} to {}", found, low, high));
}

void Reader::refuse_count(const char* field, std::uint64_t found, std::size_t room) const {
  refuse(field, fmt::format("found a count of {}, expected at most the {} that fit the rest", found,
                            room));
}

void Reader::refuse_size(const char* field, std::size_t found, std::size_t expected) const {
  refuse(field, fmt::format("found {} values, expected {}", found, expected));
}

void Reader::require_finite(const char* field, std::span<const float> values) const {
  require_finite_values(*this, field, values);
}

void Reader::require_finite(const char* field, std::span<const double> values) const {
  require_finite_values(*this, field, values);
}

std::string seal(std::string_view kind, const std::string& payload) {
  Writer writer;
  for (const char c : kMagic) writer.number(c);
  for (const char c : kind) writer.number(c);
  writer.number(kArchiveVersion);
  writer.number<std::uint64_t>(payload.size());
  // Snapshots are large, so the payload is copied only once.
  std::string bytes;
  bytes.reserve(writer.bytes().size() + payload.size() + kChecksumSize);
  bytes += writer.bytes();
  bytes += payload;
  Writer checksum;
  checksum.number<std::uint64_t>(XXH3_64bits(bytes.data(), bytes.size()));
  bytes += checksum.bytes();
  return bytes;
}

Reader unseal(std::string_view kind, std::span<const char> bytes) {
  if (bytes.size() < kHeaderSize + kChecksumSize) {
    throw Error(fmt::format("saved state refused: found {} bytes, expected at least {}",
                            bytes.size(), kHeaderSize + kChecksumSize));
  }
  if (!std::ranges::equal(bytes.first(kMagic.size()), kMagic)) {
    throw Error(fmt::format("saved state refused: found magic \"{}\", expected \"{}\"",
                            printable(bytes.first(kMagic.size())), printable(kMagic)));
  }
  const std::span<const char> found_kind = bytes.subspan(kMagic.size(), kind.size());
  Reader header(bytes.subspan(kMagic.size() + kind.size()));
  const auto version = header.number<std::uint32_t>("version");
  const auto payload_size = header.number<std::uint64_t>("payload size");
  // The version first: a later one may order everything after it differently.
  if (version < kOldestArchiveVersion || version > kArchiveVersion) {
    throw Error(fmt::format("saved state refused: found version {}, expected {} to {}", version,
                            kOldestArchiveVersion, kArchiveVersion));
  }
  if (!std::ranges::equal(found_kind, kind)) {
    throw Error(fmt::format("saved state refused: found kind \"{}\", expected \"{}\"",
                            printable(found_kind), kind));
  }
  const std::size_t room = bytes.size() - kHeaderSize - kChecksumSize;
  if (payload_size != room) {
    throw Error(fmt::format("saved state refused: found {} bytes of payload, expected {}", room,
                            payload_size));
  }
  const std::size_t covered = kHeaderSize + room;
  Reader tail(bytes.subspan(covered));
  const auto stored = tail.number<std::uint64_t>("checksum");
  const std::uint64_t computed = XXH3_64bits(bytes.data(), covered);
  if (stored != computed) {
    throw Error(
        fmt::format("saved state refused: damaged, found checksum {:016x}, expected {:016x}",
                    computed, stored));
  }
  return Reader(bytes.subspan(kHeaderSize, room), version);
}

}  // namespace phsic
