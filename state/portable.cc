#include "state/portable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "core/error.h"
#include "state/snapshot.h"
#include "state/whole_file.h"

namespace phsic {
namespace {

constexpr std::size_t kLongestStreamName = 64;
constexpr std::size_t kLongestText = std::size_t{1} << 20U;

// Looks at the envelope alone (docs/state.md), before anything is read that may be of any size.
// Throws an Error unless it is one of a known version, and the file of the size that it says.
void require_whole(const std::string& file) {
  const auto empty = seal(PortableStream::kArchiveKind, "");
  constexpr std::size_t kKindEnd = 12;
  const auto beginning = read_whole_file(file, empty.size());
  std::uint32_t version = 0;
  Reader reader(std::string_view(beginning).substr(std::min(kKindEnd, beginning.size())));
  if (beginning.size() == empty.size() && beginning.starts_with(empty.substr(0, kKindEnd))) {
    version = reader.number<std::uint32_t>("version");
  }
  if (version < kOldestArchiveVersion || version > kArchiveVersion) {
    static_cast<void>(parse<PortableStream>(beginning));  // throws
  }
  const auto payload = reader.number<std::uint64_t>("payload size");
  const auto size = std::filesystem::file_size(file);
  if (size - empty.size() == payload) return;
  throw Error(fmt::format("saved state refused: found {} bytes of payload, expected {}",
                          size - empty.size(), payload));
}

}  // namespace

bool is_stream_name(std::string_view name) {
  const bool has_length = !name.empty() && name.size() <= kLongestStreamName;
  return has_length && name.front() != '.' && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

void require_stream_name(std::string_view name) {
  if (is_stream_name(name)) return;
  throw Error(
      fmt::format("found the name \"{}\", expected 1 to {} of the letters a-z and A-Z, "
                  "digits, - _ and ., not beginning with .",
                  name, kLongestStreamName));
}

void PortableStream::save(Writer& writer) const {
  writer.text(name);
  writer.text(identity);
  writer.text(options);
  writer.text(snapshot);
}

PortableStream PortableStream::load(Reader& reader) {
  PortableStream stream;
  stream.name = reader.text("name", kLongestStreamName);
  if (!is_stream_name(stream.name)) {
    reader.refuse("name", "found something else, expected the name of a stream");
  }
  stream.identity = reader.text("identity", kLongestText);
  stream.options = reader.text("options", kLongestText);
  stream.snapshot = reader.text("snapshot", SIZE_MAX);
  static_cast<void>(snapshot_place(stream.snapshot));
  return stream;
}

PortableStream read_portable(const std::string& file) {
  try {
    require_whole(file);
    return parse<PortableStream>(read_whole_file(file));
  } catch (const Error& problem) {
    const std::string what = problem.what();
    throw Error(what.starts_with(file) ? what : fmt::format("{}: {}", file, what));
  }
}

}  // namespace phsic
