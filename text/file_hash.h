// A file's content in a few letters: what the identity of a tokeniser or an encoder says of its
// model.
#pragma once

#include <string>
#include <string_view>

namespace phsic::text {

// "xxh128:" and 32 hexadecimal digits. Throws std::invalid_argument with the path and the reason
// when the file cannot be read.
[[nodiscard]] std::string file_hash(const std::string& path);

// The same for bytes that were read already.
[[nodiscard]] std::string content_hash(std::string_view bytes);

}  // namespace phsic::text
