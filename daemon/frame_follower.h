// Follows the frames that a ZeroMQ peer sends (ZMTP 1.0 to 3.1), by the bytes as they come in.
//
// It tells how much ZeroMQ has to keep of a message that is not whole. It understands what libzmq
// understands, and believes nothing: any bytes may come, in pieces of any size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace phsic {

class FrameFollower {
 public:
  // What a frame costs ZeroMQ beside its bytes.
  static constexpr std::uint64_t kFrameCost = 64;

  // Takes note of further bytes.
  void follow(std::span<const unsigned char> bytes);

  // Bytes of the message that has begun and is not whole, kFrameCost for each frame included.
  [[nodiscard]] std::uint64_t pending() const { return pending_; }
  // Bytes of all frames so far, counted in the same way. Heartbeats do not count.
  [[nodiscard]] std::uint64_t received() const { return received_; }
  // The size of the largest frame that was announced.
  [[nodiscard]] std::uint64_t largest() const { return largest_; }

 private:
  enum class Step : unsigned char {
    kGreeting,
    kRestOfGreeting,
    kFlags,
    kSize,
    kOldSize,      // ZMTP 1.0: the size comes first, one byte or 0xff and eight,
    kOldLongSize,  // and counts the flags,
    kOldFlags,     // which come second
    kBody,
  };

  void take(unsigned char byte);
  void take_greeting(unsigned char byte);
  void follow_old();
  void begin_frame(std::uint64_t size);
  void end_frame();
  [[nodiscard]] bool is_subscription() const;

  Step step_ = Step::kGreeting;
  std::array<unsigned char, 12> greeting_{};
  std::array<unsigned char, 10> name_{};  // how the frame begins: the name of a command
  std::size_t greeted_ = 0;               // bytes of the greeting so far
  std::size_t named_ = 0;
  unsigned char flags_ = 0;
  bool is_old_ = false;
  std::size_t size_left_ = 0;  // bytes of the size that are missing
  std::uint64_t size_ = 0;
  std::uint64_t left_ = 0;  // bytes of the frame that are missing
  std::uint64_t pending_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t largest_ = 0;
};

}  // namespace phsic
