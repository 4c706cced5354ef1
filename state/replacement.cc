#include "state/replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "state/whole_file.h"

namespace phsic {
namespace {

namespace fs = std::filesystem;

// While it is written.
std::string unfinished(const std::string& file) { return file + ".new"; }

// Once it is whole. The number is that of the old file, and chosen once.
std::string finished(const std::string& file, int number) {
  return fmt::format("{}.next-{}", file, number);
}

std::string old_name(const std::string& file, int number) {
  return fmt::format("{}.old-{}", file, number);
}

// The greatest N of the files whose names begin with FILE.WORD-N; 0: there is none.
int greatest(const std::string& file, std::string_view word) {
  const fs::path path(file);
  const auto start = fmt::format("{}.{}-", path.filename().string(), word);
  int most = 0;
  for (const auto& entry :
       fs::directory_iterator(path.has_parent_path() ? path.parent_path() : ".")) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    int number = 0;
    std::from_chars(name.data() + start.size(), name.data() + name.size(), number);
    most = std::max(most, number);
  }
  return most;
}

void rename_if_there(const std::string& from, const std::string& to) {
  if (!fs::exists(from)) return;
  fs::rename(from, to);
  sync_folder_of(to);
}

}  // namespace

Replacement::Replacement(const std::string& file) : file_(file) {
  remove_database(unfinished(file));
  made_ = std::make_unique<StateFile>(unfinished(file), Database::Access::kCreate);
}

Replacement::~Replacement() {
  if (made_ == nullptr) return;
  made_ = nullptr;
  try {
    remove_database(unfinished(file_));
  } catch (const fs::filesystem_error&) {
    // The next one does it.
  }
}

std::string Replacement::finish() {
  made_->settle();
  made_ = nullptr;
  move_into_place(unfinished(file_), finished(file_, greatest(file_, "old") + 1));
  return finish_replacement(file_);
}

std::string finish_replacement(const std::string& file) {
  const auto number = greatest(file, "next");
  if (number == 0) return {};
  auto old = old_name(file, number);
  rename_if_there(file, old);
  // A log that stayed would be taken for the new file's.
  rename_if_there(file + "-wal", old + "-wal");
  fs::remove(file + "-shm");
  fs::rename(finished(file, number), file);
  sync_folder_of(file);
  return old;
}

}  // namespace phsic
