// Which encoder, with which options, as a user writes it.
//
//   hashing                        a plugin of that name, with its defaults
//   hashing:dim=2048,words=false   numbers and true/false are what they look like, the rest is text
//   wordvec:file="a,b.vec"         quotes keep commas
//   ./mine.so:depth=3              a path, told by its slash
#pragma once

#include <string>
#include <string_view>

namespace phsic {

struct EncoderSpec {
  std::string name = "hashing";
  std::string options = "{}";  // a JSON object

  bool operator==(const EncoderSpec&) const = default;

  // Throws an Error that says what was found and what was expected.
  [[nodiscard]] static EncoderSpec parse(std::string_view notation);
};

}  // namespace phsic
