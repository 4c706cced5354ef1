// Snapshots: restored into a stream, which goes on from there.
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/text_streams.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phsic;
  if (size == 0) return 0;
  const std::string payload(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto stream = fuzz::open_text_stream(data[0]);
  const auto empty = fuzz::state_of(*stream);
  ServingState serving(10);
  EntryPlace last;
  try {
    last = open_snapshot(seal("SNAP", payload), serving, *stream);
  } catch (const Error&) {
    fuzz::require(fuzz::state_of(*stream) == empty, "what is refused changes nothing");
    return 0;
  }
  const auto saved = seal_snapshot(last, serving, *stream->state());
  try {
    const auto again = fuzz::open_text_stream(data[0]);
    const auto place = open_snapshot(saved, serving, *again);
    fuzz::require(place == last && seal_snapshot(last, serving, *again->state()) == saved,
                  "what was restored is what was saved");
  } catch (const Error&) {
    fuzz::require(false, "what was saved can be restored");
  }
  try {
    fuzz::use(*stream);
  } catch (const Error&) {
    return 0;  // refused, not crashed
  }
  return 0;
}
