#include "state/kept_streams.h"

#include <algorithm>
#include <utility>

#include "state/feed_numbers.h"

namespace phsic {

KeptStream::KeptStream(std::string name, std::string identity, std::string options,
                       std::function<void()> ask_for_snapshot)
    : name_(std::move(name)),
      identity_(std::move(identity)),
      options_(std::move(options)),
      ask_for_snapshot_(std::move(ask_for_snapshot)) {}

void KeptStream::write_to(StateFile& file) {
  const auto given = file.feed();
  if (id_ == 0) {
    before_ = file.find(name_);
    for (const auto& topic : topics_of(name_)) {
      if (const auto found = given.find(topic); found != given.end()) feed_.insert(*found);
    }
  }
  if (id_ != 0 && !file.find(name_)) {
    // The file is new. Reuse the old id: sealed entries carry it.
    file.add_stream(id_, name_, identity_, options_);
  } else {
    id_ = file.put_stream(name_, identity_, options_);
  }
  created_ = file.find(name_)->created;
  for (const auto& topic : topics_of(name_)) {
    const auto last = given.find(topic);
    file.put_feed(topic, (last == given.end() ? 0 : last->second) + kReserved);
  }
}

void KeptStream::withdraw_from(StateFile& file) const {
  if (!file.find(name_)) return;  // a new file, which never had the stream
  if (before_) {
    file.put_stream(name_, before_->identity, before_->options);
  } else {
    file.remove_stream(id_);
  }
  for (const auto& topic : topics_of(name_)) {
    if (const auto found = feed_.find(topic); found != feed_.end()) {
      file.put_feed(topic, found->second);
    } else {
      file.remove_feed(topic);
    }
  }
}

void KeptStream::note_entry(const StateMark& mark) {
  handed_in_ = mark;
  if (!in_step_) lost_ = mark.number;
}

void KeptStream::fall_behind() {
  in_step_ = false;
  lost_ = std::max(lost_, handed_in_.number);
}

void KeptStream::catch_up(const StateMark& mark) {
  if (mark.number >= lost_) in_step_ = true;
}

KeptStream& KeptStreams::add(const std::string& name, const std::string& identity,
                             const std::string& options, std::function<void()> ask_for_snapshot) {
  const std::lock_guard lock(mutex_);
  return streams_.emplace_back(name, identity, options, std::move(ask_for_snapshot));
}

KeptStream& KeptStreams::last_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return *std::find_if(streams_.rbegin(), streams_.rend(),
                       [&](const KeptStream& stream) { return stream.name() == name; });
}

void KeptStreams::forget(KeptStream& stream) {
  const std::lock_guard lock(asking_);
  stream.ask_for_snapshot_ = nullptr;
  stream.forgotten_ = true;
}

std::vector<KeptStream*> KeptStreams::known() {
  std::vector<KeptStream*> all;
  const std::lock_guard lock(mutex_);
  for (auto& stream : streams_) {
    if (!stream.forgotten_) all.push_back(&stream);
  }
  return all;
}

bool KeptStreams::are_in_step() {
  const auto all = known();
  return std::all_of(all.begin(), all.end(),
                     [](const auto* stream) { return stream->is_in_step(); });
}

void KeptStreams::ask_for_snapshots() {
  for (auto* stream : known()) {
    if (stream->in_step_) continue;
    const std::lock_guard lock(asking_);
    if (stream->ask_for_snapshot_) stream->ask_for_snapshot_();
  }
}

}  // namespace phsic
