#include "state/state_writer.h"

#include <future>
#include <memory>
#include <utility>

namespace phsic {

StateWriter::StateWriter(StateLock& lock, const std::string& file, const Options& options,
                         Watcher watcher, LogWatcher log_watcher)
    : file_(file),
      queue_(options.commit_delay),
      thread_(lock, file, options.keeping, {std::move(watcher), std::move(log_watcher)}, queue_,
              streams_, status_) {}

KeptStream& StateWriter::open(const std::string& name, const std::string& identity,
                              const std::string& options, const StateMark& last,
                              std::function<void()> ask_for_snapshot) {
  auto& stream = streams_.add(name, identity, options, std::move(ask_for_snapshot));
  const auto opened = std::make_shared<std::promise<std::string>>();
  WriteItem item;
  item.kind = WriteItem::Kind::kOpen;
  item.stream = &stream;
  item.mark = last;
  item.told = [opened](const std::string& problem) { opened->set_value(problem); };
  queue_.add(std::move(item));
  if (const auto problem = opened->get_future().get(); !problem.empty()) {
    forget(stream);
    throw Error(problem);
  }
  return stream;
}

void StateWriter::withdraw(const std::string& name) {
  WriteItem item;
  item.kind = WriteItem::Kind::kWithdraw;
  item.stream = &streams_.last_of(name);
  queue_.add(std::move(item));
}

void StateWriter::append(KeptStream& stream, const StateMark& mark, std::uint64_t pairs,
                         std::string entry) {
  WriteItem item;
  item.stream = &stream;
  item.mark = mark;
  item.pairs = pairs;
  item.bytes = std::move(entry);
  queue_.add(std::move(item));
}

void StateWriter::tell(KeptStream& stream, Told told) {
  WriteItem item;
  item.kind = WriteItem::Kind::kTell;
  item.stream = &stream;
  item.told = std::move(told);
  queue_.add(std::move(item));
}

void StateWriter::put_snapshot(KeptStream& stream, const StateMark& mark, std::string bytes,
                               Told told) {
  WriteItem item;
  item.kind = WriteItem::Kind::kSnapshot;
  item.stream = &stream;
  item.mark = mark;
  item.bytes = std::move(bytes);
  item.told = std::move(told);
  queue_.add(std::move(item));
}

void StateWriter::put_feed(const std::string& topic, std::uint64_t last) {
  WriteItem item;
  item.kind = WriteItem::Kind::kFeed;
  item.bytes = topic;
  item.mark.number = last;
  queue_.add(std::move(item));
}

}  // namespace phsic
