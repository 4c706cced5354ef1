#include "state/replacement.h"

#include <fmt/format.h>

#include <filesystem>

#include "state/whole_file.h"

namespace phsic {
namespace {

namespace fs = std::filesystem;

// While it is written, and once it is whole.
std::string unfinished(const std::string& file) { return file + ".new"; }
std::string finished(const std::string& file) { return file + ".next"; }

std::string old_name(const std::string& file, int number) {
  return fmt::format("{}.old-{}", file, number);
}

void remove_database(const std::string& file) {
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file + suffix);
}

void rename_if_there(const std::string& from, const std::string& to) {
  if (!fs::exists(from)) return;
  fs::rename(from, to);
  sync_folder_of(to);
}

// The first number that no file has. If the old file has its new name already, and its log does
// not, it is the number of that.
int number_for_old(const std::string& file) {
  int number = 1;
  while (fs::exists(old_name(file, number)) || fs::exists(old_name(file, number) + "-wal")) {
    ++number;
  }
  const bool is_halfway = !fs::exists(file) && fs::exists(file + "-wal") && number > 1 &&
                          !fs::exists(old_name(file, number - 1) + "-wal");
  return is_halfway ? number - 1 : number;
}

}  // namespace

Replacement::Replacement(const std::string& file) : file_(file) {
  remove_database(unfinished(file));
  made_ = std::make_unique<StateFile>(unfinished(file), Database::Access::kCreate);
}

Replacement::~Replacement() {
  if (made_ == nullptr) return;
  made_ = nullptr;
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(unfinished(file_) + suffix, ignored);
}

std::string Replacement::finish() {
  // Closing writes SQLite's log into the file.
  made_ = nullptr;
  move_into_place(unfinished(file_), finished(file_));
  return finish_replacement(file_);
}

std::string finish_replacement(const std::string& file) {
  if (!fs::exists(finished(file))) return {};
  const auto old = old_name(file, number_for_old(file));
  rename_if_there(file, old);
  // A log that stayed would be taken for the new file's.
  rename_if_there(file + "-wal", old + "-wal");
  fs::remove(file + "-shm");
  fs::rename(finished(file), file);
  sync_folder_of(file);
  return old;
}

}  // namespace phsic
