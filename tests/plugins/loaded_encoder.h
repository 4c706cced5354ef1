// An encoder as a host sees it: a shared library, loaded with dlopen, and one open instance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/encoder.h"

namespace phsic::tests {

using Row = std::vector<float>;  // dense, whatever the encoder's layout

// The library of a shipped encoder.
[[nodiscard]] std::string shipped(const std::string& name);

class EncoderLibrary {
 public:
  // Throws std::runtime_error with dlopen's message.
  explicit EncoderLibrary(const std::string& path);
  [[nodiscard]] const phsic_encoder_plugin& plugin() const { return *plugin_; }

 private:
  std::shared_ptr<void> handle_;
  const phsic_encoder_plugin* plugin_ = nullptr;
};

// What one call of encode() gave.
struct Outcome {
  int status = PHSIC_OK;
  std::vector<Row> rows;  // the complete ones
  std::string error;
};

class LoadedEncoder {
 public:
  // Throws std::runtime_error with the encoder's message.
  LoadedEncoder(const std::string& library, const std::string& options);

  [[nodiscard]] std::uint32_t dimension() const { return facts().dimension; }
  [[nodiscard]] std::string identity() const { return facts().identity; }
  [[nodiscard]] phsic_encoder_facts facts() const;

  // One call with room for `capacity` sparse entries, at least the dimension.
  [[nodiscard]] Outcome encode_once(const std::vector<std::string>& texts,
                                    std::size_t capacity = 0) const;
  // As many calls as it takes. Throws std::runtime_error when one fails.
  [[nodiscard]] std::vector<Row> encode(const std::vector<std::string>& texts,
                                        std::size_t capacity = 0) const;
  [[nodiscard]] Row encode(const std::string& text) const;

  [[nodiscard]] const phsic_encoder_plugin& plugin() const { return library_.plugin(); }
  [[nodiscard]] void* instance() const { return instance_.get(); }

 private:
  EncoderLibrary library_;
  std::unique_ptr<void, void (*)(void*)> instance_;
};

// The message with which open() fails. Throws std::logic_error when it does not.
[[nodiscard]] std::string opening_error(const std::string& library, const std::string& options);

[[nodiscard]] double dot(const Row& a, const Row& b);
[[nodiscard]] double cosine(const Row& a, const Row& b);

}  // namespace phsic::tests
