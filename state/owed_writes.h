// What must get into the state file sooner or later, however often writing fails: reserved numbers
// of the feed, and streams that were withdrawn. For the state writer's thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "state/kept_streams.h"
#include "state/state_file.h"

namespace phsic {

class OwedWrites {
 public:
  void add_feed(const std::string& topic, std::uint64_t last) { feed_[topic] = last; }
  void add_withdrawal(const KeptStream& stream) { withdrawals_.insert(&stream); }

  [[nodiscard]] bool is_empty() const { return feed_.empty() && withdrawals_.empty(); }
  void write_to(StateFile& file) const {
    for (const auto* stream : withdrawals_) stream->withdraw_from(file);
    for (const auto& [topic, last] : feed_) file.put_feed(topic, last);
  }
  void clear() {
    feed_.clear();
    withdrawals_.clear();
  }

 private:
  std::map<std::string, std::uint64_t> feed_;  // the last number reserved of each topic
  std::set<const KeptStream*> withdrawals_;
};

}  // namespace phsic
