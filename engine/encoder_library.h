// A loaded encoder plugin, and where plugins are looked for.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/encoder.h"

namespace phsic {

// The folders that are searched, in this order: those configured, those of PHSIC_PLUGIN_PATH
// (separated by colons), and the one that comes with the program.
class EncoderPath {
 public:
  explicit EncoderPath(std::vector<std::filesystem::path> configured = {});

  [[nodiscard]] const std::vector<std::filesystem::path>& folders() const { return folders_; }
  // The file of the plugin of that name; a name with a slash is a path already. Throws an Error
  // that lists the folders and the names that are there.
  [[nodiscard]] std::filesystem::path find(std::string_view name) const;
  // Every plugin's file, each name once: the one that find() gives.
  [[nodiscard]] std::vector<std::filesystem::path> all() const;

 private:
  std::vector<std::filesystem::path> folders_;
};

// A shared library that stays loaded while somebody holds this. Safe to share between threads.
class EncoderLibrary {
 public:
  // Throws an Error with the file, what was found and what was expected, when the library cannot be
  // loaded, exports no phsic_encoder, is of another ABI, or leaves out a function.
  [[nodiscard]] static std::shared_ptr<const EncoderLibrary> load(
      const std::filesystem::path& file);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const phsic_encoder_plugin& plugin() const { return *plugin_; }

  // Throws an Error that names the file.
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  struct Close {
    void operator()(void* handle) const;
  };

  explicit EncoderLibrary(const std::filesystem::path& file);
  void require_sound() const;

  std::filesystem::path file_;
  std::unique_ptr<void, Close> handle_;
  const phsic_encoder_plugin* plugin_ = nullptr;
};

}  // namespace phsic
