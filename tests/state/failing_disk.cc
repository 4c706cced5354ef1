#include "tests/state/failing_disk.h"

#include <sqlite3.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>

namespace phsic::test {
namespace {

std::atomic<int> fault{SQLITE_OK};
sqlite3_vfs* real = nullptr;
sqlite3_vfs ours;
std::mutex guards_tables;
std::map<const sqlite3_io_methods*, sqlite3_io_methods> tables;
std::atomic<int (*)(sqlite3_file*, const void*, int, sqlite3_int64)> real_write{nullptr};

int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  const int code = fault;
  return code == SQLITE_OK ? real_write.load()(file, bytes, count, offset) : code;
}

int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* given) {
  const int code = real->xOpen(real, name, file, flags, given);
  if (code != SQLITE_OK || file->pMethods == nullptr) return code;
  const std::lock_guard lock(guards_tables);
  auto [found, is_new] = tables.try_emplace(file->pMethods, *file->pMethods);
  if (is_new) {
    real_write = found->second.xWrite;
    found->second.xWrite = write;
  }
  file->pMethods = &found->second;
  return code;
}

}  // namespace

FailingDisk::FailingDisk() {
  if (real != nullptr) return;
  real = sqlite3_vfs_find(nullptr);
  ours = *real;
  ours.zName = "failing";
  ours.pNext = nullptr;
  ours.xOpen = open;
  REQUIRE(sqlite3_vfs_register(&ours, 1) == SQLITE_OK);
}

void FailingDisk::fail_with(int code) { fault = code; }

void FailingDisk::mend() { fault = SQLITE_OK; }

}  // namespace phsic::test
