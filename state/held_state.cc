#include "state/held_state.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace phsic {

HeldState::HeldState(StateLock& lock, std::string name) : lock_(lock), name_(std::move(name)) {
  open();
}

void HeldState::open() {
  file_ = std::make_unique<StateFile>(name_, Database::Access::kCreate);
  lock_.hold_state();
  log_.hold(name_ + "-wal");
}

void HeldState::close() {
  if (file_ == nullptr) return;
  const auto log = name_ + "-wal";
  const bool has_moved = file_->has_moved();
  if (log_.is_other(log)) {
    // Closing deletes the log of that name, which belongs to another file now.
    static_cast<void>(file_.release());
    return;
  }
  file_ = nullptr;
  // SQLite leaves the log of a file that has moved. A file that comes in its place must not take
  // the log for its own.
  std::error_code ignored;
  if (has_moved) std::filesystem::remove(log, ignored);
}

void HeldState::commit(const std::function<void()>& work) const {
  file_->transact(work);
  if (!file_->has_moved()) return;
  throw Error(fmt::format("{}: found it removed or replaced, expected it to stay", name_));
}

void HeldState::open_again(const std::function<void()>& work) {
  if (lock_.is_other_state()) {
    throw Error(
        fmt::format("{}: found it replaced by another file, expected the one that was "
                    "opened; restart to go on with this one",
                    name_));
  }
  const bool is_new = !std::filesystem::exists(name_);
  try {
    open();
    if (const auto problems = file_->check(); !problems.empty()) {
      throw Error(fmt::format("{}: found it damaged: {}", name_, problems.front()));
    }
    file_->transact(work);
  } catch (...) {
    // A file that does not know the streams must not get anything of them, nor be taken for
    // somebody else's.
    close();
    if (is_new) remove_database(name_);
    throw;
  }
}

}  // namespace phsic
