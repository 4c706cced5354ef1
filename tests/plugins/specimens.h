// One of each encoder, the shipped ones in their ways and the one that docs/encoders.md teaches to
// write, for laws that all obey.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/plugins/loaded_encoder.h"
#include "tests/plugins/model_files.h"

namespace phsic::tests {

struct Specimen {
  std::string name;
  std::string library;
  std::string options;
  std::vector<std::string> texts;  // that it can encode
  bool takes_any_text = true;

  [[nodiscard]] LoadedEncoder open() const { return {library, options}; }
};

[[nodiscard]] const std::vector<Specimen>& all_specimens();

// With the specimen's name in Catch's messages.
void for_each_specimen(const std::function<void(const Specimen&)>& check);

// The models that the specimens use, made once: words.vec, model.bin, model.ftz, pieces.model.
[[nodiscard]] const TestFolder& specimen_models();

}  // namespace phsic::tests
