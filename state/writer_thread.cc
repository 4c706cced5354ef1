#include "state/writer_thread.h"

#include <algorithm>
#include <utility>

#include "engine/priority.h"
#include "engine/reason.h"

namespace phsic {
namespace {

// The second try comes after the first pause, and each later one after twice the time.
constexpr auto kFirstPause = std::chrono::seconds(1);
constexpr auto kLongestPause = std::chrono::seconds(60);

bool is_disk_full(const std::exception& problem) {
  const auto* error = dynamic_cast<const DatabaseError*>(&problem);
  return error != nullptr && error->is_full();
}

}  // namespace

WriterThread::WriterThread(StateLock& lock, const std::string& file,
                           const StateFile::Keeping& keeping, Watchers watchers, WriteQueue& queue,
                           KeptStreams& streams, WriterStatus& status)
    : lock_(lock),
      keeping_(keeping),
      watchers_(std::move(watchers)),
      queue_(queue),
      streams_(streams),
      status_(status),
      state_(lock, file),
      parts_(keeping) {
  thread_ = std::thread([this] { run(); });
}

WriterThread::~WriterThread() {
  queue_.close();
  thread_.join();
}

void WriterThread::run() {
  give_way_to_scoring();
  std::vector<WriteItem> items;
  while (queue_.take(items, next_try_, is_busy())) {
    write(items);
    items.clear();
    write_part();
    remove_remains();
    if (next_try_ && Clock::now() >= *next_try_) retry();
    show();
    watch_log();
  }
}

// True if there is something to do beside what the queue has.
bool WriterThread::is_busy() {
  return !parts_.is_empty() || (removes_ && state_.is_open() && state_.file().may_have_remains());
}

// Writes snapshots by themselves: one that does not fit must not take the entries beside it along.
// The snapshot of a stream that is in step has time, and goes part by part.
void WriterThread::write(Items items) {
  std::size_t first = 0;
  for (std::size_t i = 0; i <= items.size(); ++i) {
    const bool is_snapshot = i < items.size() && items[i].kind == WriteItem::Kind::kSnapshot;
    if (i < items.size() && !is_snapshot) continue;
    write_group(items.subspan(first, i - first));
    if (is_snapshot && items[i].stream->is_in_step()) {
      parts_.add(std::move(items[i]));
    } else if (is_snapshot) {
      write_snapshot(items[i]);
    }
    first = i + 1;
  }
}

// Writes items in one transaction.
void WriterThread::write_group(Items items) {
  if (items.empty()) return;
  std::string problem;
  take_note(items);
  try {
    const bool has_work = std::any_of(items.begin(), items.end(), [](const WriteItem& item) {
      return item.kind == WriteItem::Kind::kWithdraw ||
             (item.kind != WriteItem::Kind::kTell &&
              (item.stream == nullptr || item.stream->is_in_step()));
    });
    if (has_work) {
      require_open();
      state_.commit([&] {
        // First: a stream that was withdrawn may have been opened again by now.
        owed_.write_to(state_.file());
        for (const auto& item : items) write_item(item);
      });
      ++status_.commits;
      owed_.clear();
      removes_ = true;
      note_marks(items);
    }
  } catch (const std::exception& found) {
    fail(items, found);
    take_note(items);
    problem = reason(found);
  }
  tell_all(items, problem);
}

// Remembers items that must be written later if they cannot be now, and how far each stream's
// entries have come.
void WriterThread::take_note(std::span<const WriteItem> items) {
  for (const auto& item : items) {
    switch (item.kind) {
      case WriteItem::Kind::kFeed: owed_.add_feed(item.bytes, item.mark.number); break;
      case WriteItem::Kind::kWithdraw: owed_.add_withdrawal(*item.stream); break;
      case WriteItem::Kind::kEntry: item.stream->note_entry(item.mark); break;
      default: break;
    }
  }
}

void WriterThread::write_item(const WriteItem& item) {
  if (item.kind == WriteItem::Kind::kOpen) item.stream->write_to(state_.file());
  if (item.kind != WriteItem::Kind::kEntry || !item.stream->is_in_step()) return;
  state_.file().append(item.stream->id(), item.mark.number, item.pairs, item.bytes);
  status_.bytes += item.bytes.size();
}

// A file that was restored or moved has no marks beside it yet. A mark that is there may tell of
// more entries than were found, and stays.
void WriterThread::note_first_mark(const WriteItem& item) {
  const auto& stream = *item.stream;
  if (item.mark.number == 0 || StateMarks(state_.name()).find(*state_.file().find(stream.name()))) {
    return;
  }
  lock_.note(stream.id(), stream.created(), item.mark);
}

// Notes how far each stream is on the disk now.
void WriterThread::note_marks(std::span<const WriteItem> items) {
  for (const auto& item : items) {
    if (item.kind == WriteItem::Kind::kOpen) note_first_mark(item);
    if (item.kind != WriteItem::Kind::kEntry) continue;
    const auto& stream = *item.stream;
    if (item.mark != stream.handed_in() || !stream.is_in_step()) continue;
    lock_.note(stream.id(), stream.created(), item.mark);
  }
}

void WriterThread::tell_all(Items items, const std::string& problem) const {
  for (auto& item : items) {
    if (!item.told) continue;
    const bool is_lost = problem.empty() && !item.stream->is_in_step();
    item.told(is_lost ? status_.problem() : problem);
  }
}

// ---- Snapshots ----

// Writes the snapshot of a stream that is out of step, whole: entries that follow need it before
// them.
void WriterThread::write_snapshot(WriteItem& item) {
  std::string problem;
  auto& stream = *item.stream;
  try {
    // This may be the last snapshot, and the disk well again.
    if (!state_.is_open()) open_again();
    state_.commit([&] {
      state_.file().put_snapshot(stream.id(), item.mark.number, item.mark.pairs, item.bytes,
                                 keeping_);
    });
    ++status_.commits;
    lock_.note(stream.id(), stream.created(), item.mark);
    stream.catch_up(item.mark);
  } catch (const std::exception& found) {
    problem = reason(found);
    fail({&item, 1}, found);
  }
  if (item.told) item.told(problem);
}

// Writes the next part of a snapshot.
void WriterThread::write_part() {
  if (parts_.is_empty()) return;
  std::string problem;
  try {
    require_open();
    const bool is_whole = parts_.write_part(state_);
    ++status_.commits;
    if (!is_whole) return;
  } catch (const std::exception& found) {
    problem = reason(found);
    if (is_disk_full(found)) {
      // Without room for a snapshot the journal may still go on, and all the longer.
      ++status_.failures;
      state_.file().abandon_snapshot();
      removes_ = false;
    } else {
      fail({&parts_.first(), 1}, found);
    }
  }
  const auto item = parts_.take_first();
  if (item.told) item.told(problem);
}

// Removes some of what old snapshots have left.
void WriterThread::remove_remains() {
  if (!removes_ || !state_.is_open() || !state_.file().may_have_remains()) return;
  try {
    auto& file = state_.file();
    file.transact([&] { file.remove_remains(parts_.first_id()); });
  } catch (const std::exception& found) {
    // Removing takes room in the log. It has time.
    removes_ = false;
    if (!is_disk_full(found)) fail({}, found);
  }
}

// ---- Failures ----

// Throws the problem that the file was closed for.
void WriterThread::require_open() const {
  if (!state_.is_open()) throw Error(status_.problem());
}

void WriterThread::open_again() {
  state_.open_again([this] {
    for (auto* stream : streams_.known()) stream->write_to(state_.file());
  });
  parts_.begin_again();
}

void WriterThread::fail(std::span<const WriteItem> items, const std::exception& problem) {
  status_.set_problem(reason(problem));
  if (is_disk_full(problem)) {
    // The transaction is undone, and the file as it was.
    for (const auto& item : items) {
      if (item.kind == WriteItem::Kind::kEntry) item.stream->fall_behind();
    }
  } else {
    // What has reached the disk is not known. Nothing that is open is trusted any more.
    for (auto* stream : streams_.known()) stream->fall_behind();
    state_.close();
  }
  if (!next_try_) {
    pause_ = kFirstPause;
    next_try_ = Clock::now() + pause_;
  }
  // In this order: who counts a failure or hears of one finds it in all that is told.
  status_.is_keeping = keeps_all();
  ++status_.failures;
  show();
}

// Opens the file if need be, and asks for snapshots of the streams that are out of step.
void WriterThread::retry() {
  pause_ = std::min<Clock::duration>(2 * pause_, kLongestPause);
  next_try_ = Clock::now() + pause_;
  try {
    if (!state_.is_open()) open_again();
    auto& file = state_.file();
    if (!owed_.is_empty()) file.transact([&] { owed_.write_to(file); });
    owed_.clear();
  } catch (const std::exception& problem) {
    fail({}, problem);
    return;
  }
  streams_.ask_for_snapshots();
}

bool WriterThread::keeps_all() {
  return state_.is_open() && owed_.is_empty() && streams_.are_in_step();
}

// Tells the watcher when keeping has failed or works again.
void WriterThread::show() {
  const bool keeps = keeps_all();
  if (keeps) {
    next_try_.reset();
    status_.set_problem({});
  }
  status_.is_keeping = keeps;
  if (std::exchange(shown_, keeps) == keeps) return;
  const std::string again = keeping_.whole_journal
                                ? "what is learned is kept again; the journal has a gap"
                                : "what is learned is kept again";
  watchers_.keeping(keeps, keeps ? again : status_.problem());
}

void WriterThread::watch_log() {
  const auto bytes = state_.is_open() ? state_.file().waiting_log_bytes() : 0;
  status_.log_bytes = bytes;
  if (bytes >= long_log_) {
    while (long_log_ <= bytes) long_log_ *= 2;
    if (watchers_.log) watchers_.log(bytes);
  } else if (long_log_ > kLongLog && bytes < kLongLog / 2) {
    long_log_ = kLongLog;
    if (watchers_.log) watchers_.log(0);
  }
}

}  // namespace phsic
