// What SQLite does not tell: whether its write-ahead log goes on after the last commit that it
// accepts.
//
// SQLite reads a `-wal` up to the first frame whose checksum is wrong and takes the rest for a
// commit that never finished. After a crash that is right. After damage it is not: whole commits
// may follow. A frame of the same generation (its salts are those of the header) that ends a commit
// (its database size is not 0) at or after the first bad one tells the two apart, as far as they
// can be told apart: with `synchronous=FULL` a crash spoils the last commit alone and may leave its
// end behind, so one such frame may come of either, and more only of damage.
#pragma once

#include <cstdint>
#include <string>

namespace phsic {

struct WalTail {
  std::uint64_t frames = 0;  // good ones, up to the last good commit: what SQLite reads
  // Commits whose last frame is whole, at or after the first bad frame, and says so: salts of the
  // header, a page, and a database size. Its own checksum may be wrong. So a bad frame takes its
  // commit and all later ones with it, and each counts unless its own last frame's header is
  // damaged. The rest of a frame cut by the end of the file counts as nothing.
  std::uint64_t lost_commits = 0;
  // There is a log with more than a header, and the header makes no sense: SQLite ignores it all.
  bool header_is_bad = false;

  bool operator==(const WalTail&) const = default;
};

// Reads the log beside the database `file`; nothing lost where there is none. Only reads. Throws an
// Error when the log cannot be read. REQUIRES: nobody writes to it.
[[nodiscard]] WalTail inspect_wal(const std::string& file);

}  // namespace phsic
