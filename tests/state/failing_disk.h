// A disk that fails on demand: SQLite's own files, in this process.
#pragma once

namespace phsic::test {

// Works until it is told to fail, and works again when this is gone. One at a time.
class FailingDisk {
 public:
  FailingDisk();
  ~FailingDisk() { mend(); }
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;
  FailingDisk(FailingDisk&&) = delete;
  FailingDisk& operator=(FailingDisk&&) = delete;

  // Every write to a database that was opened since the first FailingDisk fails with a code of
  // SQLite. Any thread.
  void fail_with(int code);
  void mend();
};

}  // namespace phsic::test
