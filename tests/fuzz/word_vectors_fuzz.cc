// Files of word vectors: refused, or all their words are in the table that is made of them.
#include <cmath>
#include <stdexcept>
#include <vector>

#include "plugins/encoder.h"
#include "plugins/word_table.h"
#include "plugins/word_table_writer.h"
#include "plugins/word_vectors_reader.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phsic::plugins;
  using phsic::fuzz::MemoryFile;
  using phsic::fuzz::require;
  const MemoryFile file({reinterpret_cast<const char*>(data), size});
  const MemoryFile place;
  std::vector<std::string> words;
  try {
    FileReader source(file.path());
    WordVectorsReader reader(source);
    require(reader.dimension() >= 1 && reader.dimension() <= PHSIC_MAX_DIMENSION,
            "dimensions are in range");
    WordTableWriter writer(place.descriptor(), reader.dimension());
    std::vector<float> values(reader.dimension());
    std::string_view word;
    while (reader.next(word, values.data())) {
      for (const float value : values) require(std::isfinite(value), "values are finite");
      words.emplace_back(word);
      writer.add(word, values.data());
    }
    if (words.empty()) return 0;
    writer.finish({});
  } catch (const std::invalid_argument&) {
    return 0;
  }
  const WordTable table(place.descriptor());
  require(table.size() <= words.size(), "no word is made up");
  for (const auto& word : words) require(table.find(word).has_value(), "every word is found");
  return 0;
}
