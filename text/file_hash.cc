#include "text/file_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace phsic::text {
namespace {

std::string to_text(const XXH128_hash_t& hash) {
  return fmt::format("xxh128:{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

std::string file_hash(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) throw std::invalid_argument(fmt::format("{}: {}", path, std::strerror(errno)));
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<char> buffer(1U << 20U);
  while (const auto size = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    XXH3_128bits_update(state.get(), buffer.data(), size);
  }
  if (std::ferror(file.get()) != 0) {
    throw std::invalid_argument(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return to_text(XXH3_128bits_digest(state.get()));
}

std::string content_hash(std::string_view bytes) {
  return to_text(XXH3_128bits(bytes.data(), bytes.size()));
}

}  // namespace phsic::text
