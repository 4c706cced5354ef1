// Lines of any bytes, compressed or not: given or refused by an Error, and no byte of a plain file
// is lost.
#include "cli/table/line_reader.h"
#include "core/error.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using phsic::fuzz::require;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const phsic::fuzz::MemoryFile file(bytes);
  phsic::LineReader reader(file.path());
  // A few bytes may be a text of gigabytes.
  constexpr std::size_t kEnough = std::size_t{1} << 22;
  std::string text;
  std::string_view line;
  try {
    while (text.size() < kEnough && reader.next(line)) {
      require(line.find('\n') == line.npos, "a line is one line");
      text += line;
      text += '\n';
    }
  } catch (const phsic::Error&) {
    require(!reader.next(line), "there is nothing after an Error");
    return 0;
  }
  const char first = bytes.empty() ? '\0' : bytes.front();
  const bool may_be_compressed =
      first == '\x1f' || first == 'B' || first == '\xfd' || first == '\x28';
  if (may_be_compressed) return 0;
  if (!bytes.empty() && bytes.back() != '\n') text.pop_back();
  require(text == bytes, "a plain file is its lines");
  return 0;
}
