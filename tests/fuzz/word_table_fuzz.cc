// Caches of words: refused, or safe to search. The hashes are put right first; they would keep the
// fuzzer out.
#include <xxhash.h>

#include <cstring>
#include <stdexcept>

#include "plugins/word_table.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phsic::plugins;
  using phsic::fuzz::require;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  WordTableHeader header;
  if (bytes.size() >= sizeof header) {
    std::memcpy(&header, bytes.data(), sizeof header);
    header.content_hash = XXH3_64bits(bytes.data() + sizeof header, bytes.size() - sizeof header);
    header.header_hash = XXH3_64bits(&header, offsetof(WordTableHeader, header_hash));
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  const phsic::fuzz::MemoryFile file(bytes);
  try {
    const WordTable table(file.descriptor());
    float sum = 0;
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      const auto found = table.find(table.word(i));
      require(!found || *found < table.size(), "what is found is in the table");
      for (std::uint32_t d = 0; d < table.dimension(); ++d) sum += table.vector(i)[d];
    }
    static_cast<void>(table.find(std::to_string(sum)));
    require(std::strlen(table.model().hash.data()) < table.model().hash.size(),
            "the hash of the model ends");
  } catch (const std::runtime_error&) {
    return 0;
  }
  return 0;
}
