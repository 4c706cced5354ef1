// What a YAML file says of a stream: the options of one, or a daemon's configuration.
#pragma once

#include <string>

#include "cli/client/same_options.h"

namespace phsic {

struct ModelFile {
  OptionList options;    // what the stream is
  OptionList decisions;  // how it is decided about its pairs
  // A daemon's configuration says all that there is to say of a stream, in `defaults` and
  // `streams.NAME`; what has to do with serving is left out.
  bool is_of_daemon = false;
};

// `stream` is which one of a daemon's; empty: its only one. Throws an Error that lists everything
// wrong with the file.
[[nodiscard]] ModelFile read_model_file(const std::string& file, const std::string& stream);

}  // namespace phsic
