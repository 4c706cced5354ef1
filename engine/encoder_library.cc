#include "engine/encoder_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "core/error.h"

namespace phsic {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".so";

// Where the program's own plugins are, seen from the folder of the program: the same in a build
// tree as in an installed one.
fs::path own_folder() {
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored);
  return program.empty() ? fs::path()
                         : (program.parent_path() / PHSIC_ENCODERS_FROM_BIN).lexically_normal();
}

std::vector<fs::path> plugins_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == kSuffix) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

EncoderPath::EncoderPath(std::vector<fs::path> configured) : folders_(std::move(configured)) {
  if (const char* path = std::getenv("PHSIC_PLUGIN_PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const auto colon = rest.find(':');
      if (colon != 0) folders_.emplace_back(rest.substr(0, colon));
      rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    }
  }
  if (auto own = own_folder(); !own.empty()) folders_.push_back(std::move(own));
}

fs::path EncoderPath::find(std::string_view name) const {
  if (name.find('/') != std::string_view::npos) return name;
  for (const auto& folder : folders_) {
    auto file = folder / fs::path(name).concat(kSuffix);
    std::error_code ignored;
    if (fs::exists(file, ignored)) return file;
  }
  std::vector<std::string> known;
  for (const auto& file : all()) known.push_back(file.stem().string());
  std::vector<std::string> searched;
  for (const auto& folder : folders_) searched.push_back(folder.string());
  throw Error(fmt::format(
      "there is no encoder \"{}\": found {} in {}; set PHSIC_PLUGIN_PATH to a folder that holds "
      "{}{}, or give the path of the file",
      name, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")),
      fmt::join(searched, ", "), name, kSuffix));
}

std::vector<fs::path> EncoderPath::all() const {
  std::vector<fs::path> files;
  for (const auto& folder : folders_) {
    for (auto& file : plugins_in(folder)) {
      const bool hidden = std::any_of(files.begin(), files.end(), [&](const fs::path& other) {
        return other.filename() == file.filename();
      });
      if (!hidden) files.push_back(std::move(file));
    }
  }
  return files;
}

std::shared_ptr<const EncoderLibrary> EncoderLibrary::load(const fs::path& file) {
  return std::shared_ptr<const EncoderLibrary>(new EncoderLibrary(file));
}

EncoderLibrary::EncoderLibrary(const fs::path& file) : file_(file) {
  // With a slash, so that the loader takes the file and does not search.
  handle_.reset(dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle_) refuse(fmt::format("cannot be loaded: {}", dlerror()));
  plugin_ = static_cast<const phsic_encoder_plugin*>(dlsym(handle_.get(), "phsic_encoder"));
  require_sound();
}

void EncoderLibrary::Close::operator()(void* handle) const { dlclose(handle); }

void EncoderLibrary::refuse(const std::string& problem) const {
  throw Error(fmt::format("encoder {}: {}", file_.string(), problem));
}

void EncoderLibrary::require_sound() const {
  if (plugin_ == nullptr) {
    refuse("exports no phsic_encoder, expected a library made with encoder.h");
  }
  if (plugin_->abi_version != PHSIC_ENCODER_ABI) {
    refuse(
        fmt::format("is of ABI version {}, expected {}; build it again with this program's "
                    "encoder.h",
                    plugin_->abi_version, PHSIC_ENCODER_ABI));
  }
  if (plugin_->struct_size != sizeof(phsic_encoder_plugin)) {
    refuse(fmt::format("has a phsic_encoder_plugin of {} bytes, expected {}", plugin_->struct_size,
                       sizeof(phsic_encoder_plugin)));
  }
  const auto require = [&](const char* member, bool is_set) {
    if (!is_set) refuse(fmt::format("{} is null, expected every member to be set", member));
  };
  require("name", plugin_->name != nullptr);
  require("version", plugin_->version != nullptr);
  require("summary", plugin_->summary != nullptr);
  require("options", plugin_->options != nullptr);
  require("open", plugin_->open != nullptr);
  require("describe", plugin_->describe != nullptr);
  require("encode", plugin_->encode != nullptr);
  require("close", plugin_->close != nullptr);
}

}  // namespace phsic
