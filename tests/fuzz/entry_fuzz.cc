// Entries of the journal: parsed, and done again with a stream.
#include "state/recovery.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/text_streams.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phsic;
  if (size == 0) return 0;
  const std::string payload(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto entry = fuzz::parse_or_refuse<Entry>(seal(Entry::kArchiveKind, payload));
  if (!entry) return 0;
  const auto saved = serialise(*entry);
  const auto again = fuzz::parse_or_refuse<Entry>(saved);
  fuzz::require(again.has_value(), "what was saved can be parsed");
  fuzz::require(serialise(*again) == saved, "what was parsed is what was saved");
  const auto stream = fuzz::open_text_stream(data[0]);
  ServingState serving(10);
  try {
    fuzz::use(*stream);
    Replay replay(*stream, serving, 0, 0);
    replay.apply(*again);
    fuzz::use(*stream);
  } catch (const Error&) {
    return 0;  // refused, not crashed
  }
  return 0;
}
