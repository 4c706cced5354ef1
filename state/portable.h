// A portable file: one stream with all that it has learned, good for any state file on any machine.
#pragma once

#include <string>
#include <string_view>

#include "core/archive.h"

namespace phsic {

// The archive `STRM`.
struct PortableStream {
  std::string name;
  std::string identity;  // lines of `name: value`
  std::string options;   // JSON, only what says what the stream is
  std::string snapshot;  // the archive `SNAP`

  static constexpr std::string_view kArchiveKind = "STRM";
  void save(Writer& writer) const;
  // Looks at the envelope of the snapshot only.
  [[nodiscard]] static PortableStream load(Reader& reader);
};

// Throws an Error with the file and what is wrong with it.
[[nodiscard]] PortableStream read_portable(const std::string& file);

// A name is a feed's topic and part of a path.
[[nodiscard]] bool is_stream_name(std::string_view name);
// Throws an Error.
void require_stream_name(std::string_view name);

}  // namespace phsic
