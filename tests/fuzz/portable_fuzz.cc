// Portable files are parsed, and unpacked where that takes no encoder and little memory.
#include "state/stream_copy.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/text_streams.h"

namespace {

bool is_small(const phsic::StreamSpec& spec) {
  const bool takes_texts = spec.x_kernel.takes_texts() && spec.y_kernel.takes_texts();
  return spec.counts || (takes_texts && spec.pivots > 0 && spec.pivots <= 8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phsic;
  const std::string payload(reinterpret_cast<const char*>(data), size);
  const auto portable =
      fuzz::parse_or_refuse<PortableStream>(seal(PortableStream::kArchiveKind, payload));
  if (!portable) return 0;
  const auto saved = serialise(*portable);
  const auto again = fuzz::parse_or_refuse<PortableStream>(saved);
  fuzz::require(again.has_value() && serialise(*again) == saved,
                "what was parsed is what was saved");
  try {
    if (!is_small(spec_of(parse_options(again->options)))) return 0;
    const auto copy = unpack(*again, "file", EncoderPath(), Trust::kNamesOnly);
    static_cast<void>(pack(copy));
    fuzz::use(*copy.stream);
  } catch (const Error&) {
    return 0;  // refused, not crashed
  }
  return 0;
}
