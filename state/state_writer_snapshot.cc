// The state writer's snapshots: written and removed part by part.
#include <algorithm>
#include <utility>

#include "engine/reason.h"
#include "state/state_writer.h"

namespace phsic {

// The next part of a snapshot. Entries come in between.
void StateWriter::write_part() {
  if (writing_.empty()) return;
  auto& item = writing_.front().item;
  auto& id = writing_.front().id;
  auto& part = writing_.front().part;
  const std::span<const char> bytes = item.bytes;
  const auto start = part * StateFile::kPartBytes;
  try {
    require_open();
    if (id == 0) id = state_->next_snapshot();
    const bool is_last = start >= bytes.size();
    state_->transact([&] {
      if (is_last) {
        state_->finish_snapshot(id, item.stream->id_, item.mark.number, item.mark.pairs,
                                bytes.size(), options_.keeping);
      } else {
        state_->put_part(
            id, part, bytes.subspan(start, std::min(StateFile::kPartBytes, bytes.size() - start)));
      }
    });
    require_in_place();
    ++commits_;
    ++part;
    if (is_last) end_writing({});
  } catch (const std::exception& found) {
    const std::string problem = reason(found);
    const auto* error = dynamic_cast<const DatabaseError*>(&found);
    // Without room for a snapshot the journal may still go on, and all the longer.
    if (error == nullptr || !error->is_full()) {
      fail({&item, 1}, found);
    } else {
      ++failures_;
      state_->abandon_snapshot();
      removes_ = false;
    }
    end_writing(problem);
  }
}

// Some of what old snapshots have left. Entries come in between.
void StateWriter::remove_remains() {
  if (!removes_ || state_ == nullptr || !state_->may_have_remains()) return;
  try {
    state_->transact([&] { state_->remove_remains(writing_.empty() ? 0 : writing_.front().id); });
  } catch (const std::exception& found) {
    const auto* error = dynamic_cast<const DatabaseError*>(&found);
    // To remove something takes room in the log. It has time.
    removes_ = false;
    if (error == nullptr || !error->is_full()) fail({}, found);
  }
}

void StateWriter::end_writing(const std::string& problem) {
  const auto item = std::move(writing_.front().item);
  writing_.pop_front();
  if (item.told) item.told(problem);
}

// A snapshot that makes up for entries that were dropped: those that follow need it before them.
void StateWriter::write_snapshot(Item& item) {
  std::string problem;
  auto& stream = *item.stream;
  try {
    // It may be the last one, and the disk well again.
    if (state_ == nullptr) open_again();
    state_->transact([&] {
      state_->put_snapshot(stream.id_, item.mark.number, item.mark.pairs, item.bytes,
                           options_.keeping);
    });
    require_in_place();
    ++commits_;
    lock_.note(stream.id_, stream.created_, item.mark);
    // One that was begun before the trouble does not hold all that was dropped.
    if (item.mark.number >= stream.dropped_) stream.in_step_ = true;
  } catch (const std::exception& found) {
    problem = reason(found);
    fail({&item, 1}, found);
  }
  if (item.told) item.told(problem);
}

}  // namespace phsic
