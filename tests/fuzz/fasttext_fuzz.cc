// fastText models: refused, or libfasttext loads them and gives finite vectors.
#include <fasttext/fasttext.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "plugins/fasttext_check.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  // Negative sampling builds a table of ten million places, whatever the model.
  constexpr std::size_t kLossAt = 32;
  constexpr std::int32_t kNegativeSampling = 2;
  constexpr std::int32_t kSoftmax = 3;
  if (bytes.size() >= kLossAt + sizeof kSoftmax &&
      std::memcmp(bytes.data() + kLossAt, &kNegativeSampling, sizeof kNegativeSampling) == 0) {
    std::memcpy(bytes.data() + kLossAt, &kSoftmax, sizeof kSoftmax);
  }
  std::uint32_t dimension = 0;
  try {
    dimension = phsic::plugins::check_fasttext(bytes, "file");
  } catch (const std::invalid_argument&) {
    return 0;
  }
  const phsic::fuzz::MemoryFile file(bytes);
  fasttext::FastText model;
  model.loadModel(file.path());
  fasttext::Vector vector(dimension);
  for (const std::string word : {"a", "the", "unseen", "x\xc3\xa9\xff", ""}) {
    // The plugin asks for words only, as labels have no vectors.
    if (model.getWordId(word) >= model.getDictionary()->nwords()) continue;
    model.getWordVector(vector, word);
    for (std::int64_t d = 0; d < vector.size(); ++d) {
      phsic::fuzz::require(std::isfinite(vector[d]), "vectors are finite");
    }
  }
  return 0;
}
