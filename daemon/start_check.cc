#include "daemon/start_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "daemon/restart.h"
#include "engine/encoder_library.h"
#include "state/recovery.h"
#include "state/state_file.h"
#include "state/state_lock.h"

namespace phsic {
namespace {

namespace fs = std::filesystem;

class StartCheck {
 public:
  StartCheck(const Config& config, CheckDepth depth)
      : config_(config),
        depth_(depth),
        path_({config.encoder_path.begin(), config.encoder_path.end()}) {}

  std::vector<std::string> run() {
    for (const auto& settings : config_.streams) {
      attempt([&] { check_stream(settings); });
    }
    if (!config_.state.empty()) attempt([&] { check_state(); });
    return std::move(problems_);
  }

 private:
  template <class Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (const std::exception& problem) {
      problems_.emplace_back(problem.what());
    }
  }

  void check_stream(const StreamSettings& settings) {
    if (depth_ == CheckDepth::kAll) {
      opened_[settings.name] = open_stream(settings, path_);
      return;
    }
    try {
      for (const auto& encoder : settings.spec.encoders()) check_encoder(encoder);
    } catch (const Error& problem) {
      throw Error(fmt::format("streams.{}: {}", settings.name, problem.what()));
    }
  }

  void check_encoder(const EncoderSpec& encoder) const {
    static_cast<void>(EncoderLibrary::load(path_.find(encoder.name)));
  }

  void require_access(const fs::path& file, int mode, const char* expected) const {
    if (faccessat(AT_FDCWD, file.c_str(), mode, AT_EACCESS) == 0) return;
    throw Error(
        fmt::format("state: {}: {}, expected {}", file.string(), std::strerror(errno), expected));
  }

  void check_state() {
    const fs::path file(config_.state);
    const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    require_access(folder, W_OK | X_OK, "a folder that can be written to");
    const auto lock = config_.state + "-lock";
    if (fs::exists(lock)) require_access(lock, R_OK | W_OK, "a file that can be written");
    if (!fs::exists(file) || (fs::is_regular_file(file) && fs::file_size(file) == 0)) {
      if (const auto missing = find_missing_state(config_.state); !missing.empty()) {
        throw Error(fmt::format("state: {}", missing));
      }
      return;
    }
    require_access(file, R_OK | W_OK, "a file that can be written");
    // What is not there is not made.
    std::error_code ignored;
    const bool has_log = fs::exists(config_.state + "-wal", ignored);
    const StateMarks marks(config_.state);
    const StateFile state(config_.state,
                          has_log ? Database::Access::kRead : Database::Access::kReadAlone);
    for (const auto& record : state.streams()) {
      const auto found = opened_.find(record.name);
      if (found == opened_.end() || found->second == nullptr) continue;
      attempt([&, &stream = *found->second] { require_identity(state, record, stream, marks); });
    }
  }

  const Config& config_;
  const CheckDepth depth_;
  const EncoderPath path_;
  std::map<std::string, std::unique_ptr<Stream>> opened_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> check_start(const Config& config, CheckDepth depth) {
  return StartCheck(config, depth).run();
}

}  // namespace phsic
