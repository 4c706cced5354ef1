#include "state/snapshot_parts.h"

#include <algorithm>
#include <span>

namespace phsic {

bool SnapshotParts::write_part(HeldState& state) {
  auto& [item, id, part] = waiting_.front();
  auto& file = state.file();
  const std::span<const char> bytes = item.bytes;
  const auto start = part * StateFile::kPartBytes;
  const bool is_last = start >= bytes.size();
  if (id == 0) id = file.next_snapshot();
  state.commit([&, &item = item, &id = id, &part = part] {
    if (is_last) {
      file.finish_snapshot(id, item.stream->id(), item.mark.number, item.mark.pairs, bytes.size(),
                           keeping_);
    } else {
      const auto size = std::min(StateFile::kPartBytes, bytes.size() - start);
      file.put_part(id, part, bytes.subspan(start, size));
    }
  });
  ++part;
  return is_last;
}

WriteItem SnapshotParts::take_first() {
  auto item = std::move(waiting_.front().item);
  waiting_.pop_front();
  return item;
}

void SnapshotParts::begin_again() {
  for (auto& writing : waiting_) writing.id = writing.part = 0;
}

}  // namespace phsic
