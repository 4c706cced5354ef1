// Follows the frames that a ZeroMQ peer sends (ZMTP 1.0 to 3.1), by the bytes as they come in.
//
// It tells how much ZeroMQ has to keep of a message that is not whole, and which bytes would make
// libzmq abort. It understands what libzmq understands, and believes nothing: any bytes may come,
// in pieces of any size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace phsic {

class FrameFollower {
 public:
  // What a frame costs ZeroMQ beside its bytes.
  static constexpr std::uint64_t kFrameCost = 64;

  // Takes note of further bytes.
  void follow(std::span<const unsigned char> bytes);

  // How many of these bytes, which come next, are before a command that follows on a message among
  // them. libzmq stops reading where it has no room for messages; it aborts if it finds a PING
  // behind them when the peer has hung up meanwhile.
  [[nodiscard]] std::size_t before_command(std::span<const unsigned char> bytes) const;
  // Bytes of the frame that is read now that are to come, its next ones.
  [[nodiscard]] std::uint64_t left() const { return step_ == Step::kBody ? left_ : 0; }

  // True if the peer has given itself a name that begins with a zero byte, as the names do that
  // libzmq gives to peers without one: libzmq aborts at two peers of the same name. A peer whose
  // handshake is too long to be looked at is taken for one of these.
  [[nodiscard]] bool has_bad_name() const { return has_bad_name_; }

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
  void take_handshake(std::span<const unsigned char> bytes);
  void end_handshake();
  [[nodiscard]] bool is_subscription() const;

  Step step_ = Step::kGreeting;
  std::array<unsigned char, 12> greeting_{};
  std::array<unsigned char, 10> name_{};  // how the frame begins: the name of a command
  std::size_t greeted_ = 0;               // bytes of the greeting so far
  std::size_t named_ = 0;
  unsigned char flags_ = 0;
  bool is_old_ = false;
  bool knows_commands_ = false;  // ZMTP 3: commands have meanings
  bool is_greeted_ = false;      // the first frame has come, which is the handshake, or the name
  bool has_bad_name_ = false;
  std::string handshake_;
  std::size_t size_left_ = 0;  // bytes of the size that are missing
  std::uint64_t size_ = 0;
  std::uint64_t left_ = 0;  // bytes of the frame that are missing
  std::uint64_t pending_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t largest_ = 0;
};

}  // namespace phsic
