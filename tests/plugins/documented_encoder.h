// The encoder that docs/encoders.md teaches to write, built from its own words.
#pragma once

#include <string>

namespace phsic::tests {

// The C code of the document, compiled with nothing of this tree but encoder.h beside it, into the
// shared library `path`. Throws std::runtime_error when it does not compile.
void build_documented_encoder(const std::string& path);

[[nodiscard]] std::string encoders_document();

}  // namespace phsic::tests
