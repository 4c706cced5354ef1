#include "tests/plugins/documented_encoder.h"

#include <cstdlib>
#include <stdexcept>

#include "tests/plugins/model_files.h"

namespace phsic::tests {

std::string encoders_document() { return read_file(PHSIC_SOURCE_DIR "/docs/encoders.md"); }

void build_documented_encoder(const std::string& path) {
  const std::string fence = "```c\n";
  const auto text = encoders_document();
  const auto begin = text.find(fence);
  const auto end = text.find("```\n", begin + fence.size());
  if (begin == std::string::npos || end == std::string::npos) {
    throw std::runtime_error("docs/encoders.md has no block of C");
  }
  const TestFolder folder;
  folder.write("encoder.h", read_file(PHSIC_SOURCE_DIR "/plugins/encoder.h"));
  const auto source =
      folder.write("letters.c", text.substr(begin + fence.size(), end - begin - fence.size()));
  const auto command =
      "cc -std=c11 -Wall -Wextra -Werror -O2 -shared -fPIC -o '" + path + "' '" + source + "'";
  if (std::system(command.c_str()) != 0) {  // NOLINT(concurrency-mt-unsafe)
    throw std::runtime_error("the encoder of docs/encoders.md does not compile");
  }
}

}  // namespace phsic::tests
