#include "state/state_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <utility>

#include "engine/priority.h"
#include "engine/reason.h"
#include "state/feed_numbers.h"

namespace phsic {
namespace {

constexpr std::size_t kMostWaiting = 64U << 20U;  // bytes
// The second try comes after the first pause, and each later one after twice the time.
constexpr auto kFirstPause = std::chrono::seconds(1);
constexpr auto kLongestPause = std::chrono::seconds(60);

}  // namespace

StateWriter::StateWriter(StateLock& lock, const std::string& file, const Options& options,
                         Watcher watcher, LogWatcher log_watcher)
    : lock_(lock),
      file_name_(file),
      options_(options),
      watcher_(std::move(watcher)),
      log_watcher_(std::move(log_watcher)) {
  open_file();
  thread_ = std::thread([this] { run(); });
}

StateWriter::~StateWriter() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_one();
  thread_.join();
  state_ = nullptr;
}

void StateWriter::close_file() {
  if (state_ == nullptr) return;
  const auto log = file_name_ + "-wal";
  const bool has_moved = state_->has_moved();
  if (held_log_.is_other(log)) {
    // Closing deletes the log of that name, which belongs to another file now.
    static_cast<void>(state_.release());
    return;
  }
  state_ = nullptr;
  // SQLite leaves the log of a file that has moved. Whatever lies beside it next must not take it
  // for its own.
  std::error_code ignored;
  if (has_moved) std::filesystem::remove(log, ignored);
}

void StateWriter::open_file() {
  state_ = std::make_unique<StateFile>(file_name_, Database::Access::kCreate);
  // What was written of a snapshot is gone with the file, or was removed when it was opened.
  for (auto& writing : writing_) writing.id = writing.part = 0;
  lock_.hold_state();
  held_log_.hold(file_name_ + "-wal");
}

KeptStream& StateWriter::open(const std::string& name, const std::string& identity,
                              const std::string& options, const StateMark& last,
                              std::function<void()> ask_for_snapshot) {
  KeptStream* stream = nullptr;
  {
    const std::lock_guard lock(mutex_);
    stream = &streams_.emplace_back();
    stream->name_ = name;
    stream->identity_ = identity;
    stream->options_ = options;
    stream->ask_for_snapshot_ = std::move(ask_for_snapshot);
  }
  const auto opened = std::make_shared<std::promise<std::string>>();
  Item item;
  item.kind = Item::Kind::kOpen;
  item.stream = stream;
  item.mark = last;
  item.told = [opened](const std::string& problem) { opened->set_value(problem); };
  hand_in(std::move(item));
  if (const auto problem = opened->get_future().get(); !problem.empty()) {
    forget(*stream);
    throw Error(problem);
  }
  return *stream;
}

void StateWriter::forget(KeptStream& stream) {
  const std::lock_guard lock(asking_);
  stream.ask_for_snapshot_ = nullptr;
  stream.forgotten_ = true;
}

void StateWriter::withdraw(KeptStream& stream) {
  Item item;
  item.kind = Item::Kind::kWithdraw;
  item.stream = &stream;
  hand_in(std::move(item));
}

void StateWriter::append(KeptStream& stream, const StateMark& mark, std::uint64_t pairs,
                         std::string entry) {
  Item item;
  item.stream = &stream;
  item.mark = mark;
  item.pairs = pairs;
  item.bytes = std::move(entry);
  hand_in(std::move(item));
}

void StateWriter::tell(KeptStream& stream, Told told) {
  Item item;
  item.kind = Item::Kind::kTell;
  item.stream = &stream;
  item.told = std::move(told);
  hand_in(std::move(item));
}

void StateWriter::put_snapshot(KeptStream& stream, const StateMark& mark, std::string bytes,
                               Told told) {
  Item item;
  item.kind = Item::Kind::kSnapshot;
  item.stream = &stream;
  item.mark = mark;
  item.bytes = std::move(bytes);
  item.told = std::move(told);
  hand_in(std::move(item));
}

void StateWriter::put_feed(const std::string& topic, std::uint64_t last) {
  Item item;
  item.kind = Item::Kind::kFeed;
  item.bytes = topic;
  item.mark.number = last;
  hand_in(std::move(item));
}

std::string StateWriter::problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_;
}

void StateWriter::hand_in(Item item) {
  {
    std::unique_lock lock(mutex_);
    if (item.kind == Item::Kind::kEntry) {
      emptied_.wait(lock, [&] { return queue_bytes_ < kMostWaiting; });
    }
    queue_bytes_ += item.bytes.size() + sizeof(Item);
    if (!oldest_) oldest_ = Clock::now();
    queue_.push_back(std::move(item));
  }
  filled_.notify_one();
}

// ---- The thread ----

void StateWriter::run() {
  give_way_to_scoring();
  std::vector<Item> items;
  while (take(items)) {
    write(items);
    items.clear();
    write_part();
    remove_remains();
    if (next_try_ && Clock::now() >= *next_try_) retry();
    show();
    watch_log();
  }
}

// Is there something to do beside what was handed in?
bool StateWriter::has_own_work() const {
  return !writing_.empty() || (removes_ && state_ != nullptr && state_->may_have_remains());
}

// What waits, after the delay that lets more come. False: closed, and nothing is left.
bool StateWriter::take(std::vector<Item>& items) {
  std::unique_lock lock(mutex_);
  const auto is_filled = [&] { return closed_ || !queue_.empty() || has_own_work(); };
  if (next_try_) {
    filled_.wait_until(lock, *next_try_, is_filled);
  } else {
    filled_.wait(lock, is_filled);
  }
  if (options_.commit_delay.count() > 0 && !queue_.empty() && !has_own_work()) {
    filled_.wait_until(lock, *oldest_ + options_.commit_delay,
                       [&] { return closed_ || queue_bytes_ >= kMostWaiting; });
  }
  std::swap(items, queue_);
  queue_bytes_ = 0;
  oldest_.reset();
  emptied_.notify_all();
  return !closed_ || !items.empty() || has_own_work();
}

// Snapshots by themselves: one that does not fit must not take the entries beside it along. Those
// of streams that are in step have time.
void StateWriter::write(std::vector<Item>& items) {
  const std::span all(items);
  std::size_t first = 0;
  for (std::size_t i = 0; i <= all.size(); ++i) {
    const bool is_snapshot = i < all.size() && all[i].kind == Item::Kind::kSnapshot;
    if (i < all.size() && !is_snapshot) continue;
    write_group(all.subspan(first, i - first));
    if (is_snapshot && all[i].stream->in_step_) {
      writing_.push_back({std::move(all[i])});
    } else if (is_snapshot) {
      write_snapshot(all[i]);
    }
    first = i + 1;
  }
}

void StateWriter::write_group(std::span<Item> items) {
  if (items.empty()) return;
  std::string problem;
  take_note(items);
  try {
    const bool has_work = std::any_of(items.begin(), items.end(), [](const Item& item) {
      return item.kind == Item::Kind::kWithdraw ||
             (item.kind != Item::Kind::kTell && (item.stream == nullptr || item.stream->in_step_));
    });
    if (has_work) {
      require_open();
      state_->transact([&] {
        write_owed();  // first: a stream that was withdrawn may be opened again by now
        for (const auto& item : items) write_item(item);
      });
      require_in_place();
      ++commits_;
      clear_owed();
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

// Notes down what has come, and what will not be written, because its stream is out of step.
void StateWriter::take_note(std::span<const Item> items) {
  for (const auto& item : items) {
    if (item.kind == Item::Kind::kFeed) unwritten_feed_[item.bytes] = item.mark.number;
    if (item.kind == Item::Kind::kWithdraw) unwritten_withdrawals_.insert(item.stream);
    if (item.kind != Item::Kind::kEntry) continue;
    item.stream->handed_in_ = item.mark;
    if (!item.stream->in_step_) item.stream->dropped_ = item.mark.number;
  }
}

// A file that was restored or moved has no marks beside it yet. One that is there may tell of more
// than was found.
void StateWriter::note_first_mark(const Item& item) const {
  if (item.mark.number == 0 || StateMarks(file_name_).find(*state_->find(item.stream->name_))) {
    return;
  }
  lock_.note(item.stream->id_, item.stream->created_, item.mark);
}

// How far each stream is on the disk now.
void StateWriter::note_marks(std::span<const Item> items) const {
  for (const auto& item : items) {
    if (item.kind == Item::Kind::kOpen) note_first_mark(item);
    if (item.kind != Item::Kind::kEntry || item.mark != item.stream->handed_in_) continue;
    if (item.stream->in_step_) lock_.note(item.stream->id_, item.stream->created_, item.mark);
  }
}

void StateWriter::write_stream(KeptStream& stream) {
  const auto given = state_->feed();
  if (stream.id_ == 0) {
    stream.before_ = state_->find(stream.name_);
    for (const auto& topic : topics_of(stream.name_)) {
      if (!given.contains(topic)) stream.new_topics_.push_back(topic);
    }
  }
  if (stream.id_ != 0 && !state_->find(stream.name_)) {
    // The file is new. Reuse the old id: sealed entries carry it.
    state_->add_stream(stream.id_, stream.name_, stream.identity_, stream.options_);
  } else {
    stream.id_ = state_->put_stream(stream.name_, stream.identity_, stream.options_);
  }
  stream.created_ = state_->find(stream.name_)->created;
  for (const auto& topic : topics_of(stream.name_)) {
    const auto last = given.find(topic);
    state_->put_feed(topic, (last == given.end() ? 0 : last->second) + kReserved);
  }
}

void StateWriter::withdraw_stream(const KeptStream& stream) {
  if (!state_->find(stream.name_)) return;  // a new file, which never had it
  if (stream.before_) {
    state_->put_stream(stream.name_, stream.before_->identity, stream.before_->options);
  } else {
    state_->remove_stream(stream.id_);
  }
  for (const auto& topic : stream.new_topics_) state_->remove_feed(topic);
}

void StateWriter::write_item(const Item& item) {
  switch (item.kind) {
    case Item::Kind::kOpen: write_stream(*item.stream); break;
    case Item::Kind::kEntry:
      if (!item.stream->in_step_) break;
      state_->append(item.stream->id_, item.mark.number, item.pairs, item.bytes);
      bytes_ += item.bytes.size();
      break;
    default: break;
  }
}

// What must get into the file sooner or later, however often writing fails.
void StateWriter::write_owed() {
  for (const auto* stream : unwritten_withdrawals_) withdraw_stream(*stream);
  for (const auto& [topic, last] : unwritten_feed_) state_->put_feed(topic, last);
}

void StateWriter::clear_owed() {
  unwritten_feed_.clear();
  unwritten_withdrawals_.clear();
}

// What closed it is still what is wrong with it.
void StateWriter::require_open() const {
  if (state_ == nullptr) throw Error(problem());
}

// An open file that has lost its name can be written to, and is gone with the process.
void StateWriter::require_in_place() const {
  if (!state_->has_moved()) return;
  throw Error(fmt::format("{}: found it removed or replaced, expected it to stay", file_name_));
}

void StateWriter::tell_all(std::span<Item> items, const std::string& problem) {
  for (auto& item : items) {
    if (!item.told) continue;
    if (problem.empty() && !item.stream->in_step_) {
      item.told(this->problem());
    } else {
      item.told(problem);
    }
  }
}

void StateWriter::fail(std::span<const Item> items, const std::exception& problem) {
  const auto* error = dynamic_cast<const DatabaseError*>(&problem);
  const bool is_full = error != nullptr && error->is_full();
  {
    const std::lock_guard lock(problem_mutex_);
    problem_ = reason(problem);
  }
  if (is_full) {
    // The transaction is undone, and the file as it was.
    for (const auto& item : items) {
      if (item.kind == Item::Kind::kEntry) item.stream->in_step_ = false;
    }
  } else {
    // What has reached the disk is not known. Nothing that is open is trusted any more.
    for (auto* stream : known()) {
      stream->in_step_ = false;
      stream->dropped_ = std::max(stream->dropped_, stream->handed_in_.number);
    }
    close_file();
  }
  if (!next_try_) {
    pause_ = kFirstPause;
    next_try_ = Clock::now() + pause_;
  }
  // In this order: who counts a failure or hears of one finds it in all that is told.
  keeping_ = keeps_all();
  ++failures_;
  show();
}

// Opens the file if need be, and asks for snapshots of the streams that are out of step.
void StateWriter::retry() {
  pause_ = std::min<Clock::duration>(2 * pause_, kLongestPause);
  next_try_ = Clock::now() + pause_;
  try {
    if (state_ == nullptr) open_again();
    if (owes()) state_->transact([&] { write_owed(); });
    clear_owed();
  } catch (const std::exception& problem) {
    fail({}, problem);
    return;
  }
  for (auto* stream : known()) {
    if (stream->in_step_) continue;
    const std::lock_guard lock(asking_);
    if (stream->ask_for_snapshot_) stream->ask_for_snapshot_();
  }
}

// The streams that there are now.
std::vector<KeptStream*> StateWriter::known() {
  std::vector<KeptStream*> all;
  const std::lock_guard lock(mutex_);
  for (auto& stream : streams_) {
    if (!stream.forgotten_) all.push_back(&stream);
  }
  return all;
}

// The same file, or a new one where there is none any more.
void StateWriter::open_again() {
  if (lock_.is_other_state()) {
    throw Error(
        fmt::format("{}: found it replaced by another file, expected the one that was "
                    "opened; restart to go on with this one",
                    file_name_));
  }
  const bool is_new = !std::filesystem::exists(file_name_);
  try {
    open_file();
    if (const auto problems = state_->check(); !problems.empty()) {
      throw Error(fmt::format("{}: found it damaged: {}", file_name_, problems.front()));
    }
    state_->transact([&] {
      for (auto* stream : known()) write_stream(*stream);
    });
  } catch (...) {
    // A file that does not know the streams must not get anything of them, nor be taken for
    // somebody else's.
    close_file();
    if (is_new) remove_database(file_name_);
    throw;
  }
}

void StateWriter::watch_log() {
  log_bytes_ = state_ == nullptr ? 0 : state_->waiting_log_bytes();
  if (log_bytes_ >= long_log_) {
    while (long_log_ <= log_bytes_) long_log_ *= 2;
    if (log_watcher_) log_watcher_(log_bytes_);
  } else if (long_log_ > kLongLog && log_bytes_ < kLongLog / 2) {
    long_log_ = kLongLog;
    if (log_watcher_) log_watcher_(0);
  }
}

bool StateWriter::keeps_all() {
  const auto all = known();
  return state_ != nullptr && !owes() &&
         std::all_of(all.begin(), all.end(),
                     [](const auto* stream) { return stream->is_in_step(); });
}

// Tells the world when keeping has failed or works again.
void StateWriter::show() {
  const bool keeps = keeps_all();
  if (keeps) {
    next_try_.reset();
    const std::lock_guard lock(problem_mutex_);
    problem_.clear();
  }
  keeping_ = keeps;
  if (std::exchange(shown_, keeps) == keeps) return;
  const std::string again = options_.keeping.whole_journal
                                ? "what is learned is kept again; the journal has a gap"
                                : "what is learned is kept again";
  watcher_(keeps, keeps ? again : problem());
}

}  // namespace phsic
