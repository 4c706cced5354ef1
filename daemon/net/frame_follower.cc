#include "daemon/net/frame_follower.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace phsic {
namespace {

constexpr std::size_t kSignature = 10;
constexpr std::size_t kGreeting = 64;  // of ZMTP 3
constexpr std::size_t kLongSize = 8;
constexpr unsigned char kLong = 0xff;
constexpr std::size_t kLongestHandshake = 4096;

enum Flags : unsigned char { kMore = 1, kLarge = 2, kCommand = 4 };

}  // namespace

void FrameFollower::follow(std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    if (step_ != Step::kBody) {
      take(bytes.front());
      bytes = bytes.subspan(1);
      continue;
    }
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    const auto named = std::min(count, name_.size() - named_);
    std::copy_n(bytes.begin(), named, name_.begin() + static_cast<std::ptrdiff_t>(named_));
    named_ += named;
    if (!is_greeted_) take_handshake(bytes.first(count));
    left_ -= count;
    pending_ += count;
    bytes = bytes.subspan(count);
    if (left_ == 0) end_frame();
  }
}

std::size_t FrameFollower::before_command(std::span<const unsigned char> bytes) const {
  FrameFollower ahead = *this;
  bool has_message = false;
  std::size_t i = 0;
  while (i < bytes.size()) {
    const bool begins = ahead.step_ == Step::kFlags;
    const bool is_command = ((begins ? bytes[i] : ahead.flags_) & kCommand) != 0;
    if (begins && is_command && has_message) return i;
    has_message |= (begins || ahead.step_ == Step::kBody) && !is_command;
    const auto count =
        std::min<std::uint64_t>(std::max<std::uint64_t>(1, ahead.left()), bytes.size() - i);
    ahead.follow(bytes.subspan(i, static_cast<std::size_t>(count)));
    i += static_cast<std::size_t>(count);
  }
  return i;
}

void FrameFollower::take(unsigned char byte) {
  switch (step_) {
    case Step::kGreeting: take_greeting(byte); return;
    case Step::kRestOfGreeting:
      if (++greeted_ == kGreeting) step_ = Step::kFlags;
      return;
    case Step::kFlags:
      flags_ = byte;
      size_ = 0;
      size_left_ = (byte & kLarge) != 0 ? kLongSize : 1;
      step_ = Step::kSize;
      return;
    case Step::kSize:
      size_ = size_ << 8U | byte;
      if (--size_left_ == 0) begin_frame(size_);
      return;
    case Step::kOldSize:
      size_ = byte == kLong ? 0 : byte;
      size_left_ = kLongSize;
      step_ = byte == kLong ? Step::kOldLongSize : Step::kOldFlags;
      return;
    case Step::kOldLongSize:
      size_ = size_ << 8U | byte;
      if (--size_left_ == 0) step_ = Step::kOldFlags;
      return;
    case Step::kOldFlags:
      flags_ = byte & kMore;
      begin_frame(size_ == 0 ? 0 : size_ - 1);
      return;
    case Step::kBody: return;
  }
}

// What does not begin like a greeting is a frame of ZMTP 1.0, which has none.
void FrameFollower::take_greeting(unsigned char byte) {
  greeting_[greeted_++] = byte;
  if (greeted_ == 1 && byte != kLong) follow_old();
  if (greeted_ == kSignature && (byte & 1U) == 0) follow_old();
  if (step_ != Step::kGreeting || greeted_ < greeting_.size()) return;
  const auto revision = greeting_[kSignature];
  is_old_ = revision == 0;
  knows_commands_ = revision > 1;
  step_ = is_old_ ? Step::kOldSize : revision == 1 ? Step::kFlags : Step::kRestOfGreeting;
}

void FrameFollower::follow_old() {
  is_old_ = true;
  step_ = Step::kOldSize;
  follow(std::span(greeting_).first(greeted_));
}

void FrameFollower::begin_frame(std::uint64_t size) {
  left_ = size;
  named_ = 0;
  largest_ = std::max(largest_, size);
  pending_ += kFrameCost;
  step_ = Step::kBody;
  size_ = size;
  if (size == 0) end_frame();
}

void FrameFollower::end_frame() {
  const auto cost = size_ + kFrameCost;
  const bool more = (flags_ & kMore) != 0;
  step_ = is_old_ ? Step::kOldSize : Step::kFlags;
  if (!is_greeted_) end_handshake();
  if ((flags_ & kCommand) != 0 && !more && !(knows_commands_ && is_subscription())) {
    // A heartbeat: ZeroMQ acts on it and forgets it, even between two frames of a message.
    pending_ -= cost;
    return;
  }
  received_ += cost;
  if (!more) pending_ = 0;
}

void FrameFollower::take_handshake(std::span<const unsigned char> bytes) {
  if (handshake_.size() + bytes.size() > kLongestHandshake) {
    has_bad_name_ = true;
    return;
  }
  handshake_.append(bytes.begin(), bytes.end());
}

// Of ZMTP 3: "\x05READY" and properties, each a name after its length in one byte and a value after
// its length in four. Before, it is the name.
void FrameFollower::end_handshake() {
  is_greeted_ = true;
  const auto handshake = std::exchange(handshake_, {});
  if (!knows_commands_) {
    has_bad_name_ |= handshake.starts_with('\0');
    return;
  }
  std::string_view rest = handshake;
  const auto take = [&rest](std::size_t count) {
    const auto taken = rest.substr(0, count);
    rest.remove_prefix(taken.size());
    return taken;
  };
  const auto take_sized = [&take](std::size_t bytes) {
    std::size_t size = 0;
    for (const char c : take(bytes)) size = size << 8U | static_cast<unsigned char>(c);
    return take(size);
  };
  take_sized(1);
  while (!rest.empty()) {
    const auto name = take_sized(1);
    const auto value = take_sized(4);
    has_bad_name_ |= name == "Identity" && value.starts_with('\0');
  }
}

// Subscriptions are passed on as messages are.
bool FrameFollower::is_subscription() const {
  using namespace std::string_view_literals;
  const std::string_view name(reinterpret_cast<const char*>(name_.data()), named_);
  return name.starts_with("\x09SUBSCRIBE"sv) || name.starts_with(
                                                    "\x06"
                                                    "CANCEL"sv);
}

}  // namespace phsic
