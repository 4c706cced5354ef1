#include "daemon/net/frame_follower.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

namespace phsic {
namespace {

using namespace std::string_literals;

constexpr auto kCost = FrameFollower::kFrameCost;
constexpr unsigned char kMore = 1;
constexpr unsigned char kCommand = 4;

std::string frame(std::string_view body, unsigned char flags) {
  std::string out{static_cast<char>(flags)};
  if (body.size() < 256) return out + static_cast<char>(body.size()) + std::string(body);
  out[0] = static_cast<char>(flags | 2U);
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(body.size() >> shift);
  return out + std::string(body);
}

std::string old_frame(std::string_view body, unsigned char flags) {
  if (body.size() < 254) {
    return std::string{static_cast<char>(body.size() + 1), static_cast<char>(flags)} +
           std::string(body);
  }
  std::string out = "\xff";
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>((body.size() + 1) >> shift);
  return out + static_cast<char>(flags) + std::string(body);
}

const std::string kSignature = "\xff\0\0\0\0\0\0\0\0\x7f"s;

struct Dialect {
  std::string greeting;
  std::string (*frame)(std::string_view, unsigned char);
};

const Dialect kNew = {kSignature + "\3\1NULL" + std::string(48, '\0'), frame};
const Dialect kDialects[] = {
    kNew,
    {kSignature + "\3\0NULL"s + std::string(48, '\0'), frame},
    {kSignature + "\1\5", frame},       // ZMTP 2.0
    {kSignature + "\0\5"s, old_frame},  // ZMTP 1.0 that knows of later ones
    {"", old_frame},                    // and that does not
};

FrameFollower followed(std::string_view bytes, std::size_t piece) {
  FrameFollower follower;
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    const auto part = bytes.substr(i, piece);
    follower.follow({reinterpret_cast<const unsigned char*>(part.data()), part.size()});
  }
  return follower;
}

TEST_CASE("A message is pending until its last frame, in every dialect and however it is cut",
          "[frames]") {
  const std::string large(1000, 'x');
  for (const auto& [greeting, make] : kDialects) {
    // A peer that knows no greeting sends its name first, even a long one.
    const auto begun = greeting + make("name", 0) + make("", kMore) + make(large, kMore);
    for (const std::size_t piece : {1, 2, 3, 7, 64, 5000}) {
      CHECK(followed(begun, piece).pending() == 2 * kCost + large.size());
      CHECK(followed(begun, piece).largest() == large.size());
      CHECK(followed(begun + make("end", 0), piece).pending() == 0);
      CHECK(followed(begun + make("end", 0), piece).received() == 4 * kCost + 4 + 1000 + 3);
    }
  }
}

TEST_CASE("A name that begins like a greeting is none", "[frames]") {
  const auto bytes = old_frame(std::string(300, 'n'), 0) + old_frame("a", kMore);
  CHECK(followed(bytes, 1).pending() == kCost + 1);
  CHECK(followed(bytes, 11).pending() == kCost + 1);
}

TEST_CASE("What is there of a frame counts, and not what it claims", "[frames]") {
  const auto bytes = kNew.greeting + "\3" + std::string(8, '\x7f') + "some";
  CHECK(followed(bytes, 5).pending() == kCost + 4);
  CHECK(followed(bytes, 5).largest() == 0x7f7f7f7f7f7f7f7f);
}

TEST_CASE("Heartbeats come between frames and count for nothing, subscriptions count", "[frames]") {
  const auto ping = frame("\4PING\0\1"s, kCommand);
  const auto begun = kNew.greeting + frame("a", kMore);
  CHECK(followed(begun + ping + ping, 3).pending() == kCost + 1);
  CHECK(followed(begun + ping, 3).received() == kCost + 1);
  CHECK(followed(kNew.greeting + ping, 3).pending() == 0);
  const auto subscription = frame("\x09SUBSCRIBEt", kCommand);
  CHECK(followed(kNew.greeting + subscription, 3).received() == kCost + 11);
  CHECK(followed(kNew.greeting + frame("\4PING", kCommand | kMore), 3).pending() == kCost + 5);
}

std::size_t before_command(std::string_view followed_before, std::string_view bytes) {
  return followed(followed_before, 1000)
      .before_command({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

TEST_CASE("What comes before a command that follows on a message can be told", "[frames]") {
  const auto ping = frame("\4PING\0\1"s, kCommand);
  const auto ready = kNew.greeting + frame("\5READY", kCommand);
  const auto message = frame("a", kMore) + frame(std::string(300, 'b'), 0);
  CHECK(before_command(ready, message + message) == 2 * message.size());
  CHECK(before_command(ready, ping + ping + message) == 2 * ping.size() + message.size());
  CHECK(before_command(ready, message + ping) == message.size());
  CHECK(before_command(ready, ping + message + ping + message) == ping.size() + message.size());
  // If a message or its header has begun before, the rest counts as a message.
  for (const std::size_t begun : {1, 2, 4, 100}) {
    const auto rest = message.substr(begun);
    CHECK(before_command(ready + message.substr(0, begun), rest + ping) == rest.size());
  }
  CHECK(before_command(ready + ping.substr(0, 3), ping.substr(3) + ping) == 2 * ping.size() - 3);
  CHECK(before_command("", ready + message + ping) == ready.size() + message.size());
  // To a peer that knows no commands, every frame is a message.
  CHECK(before_command(kDialects[3].greeting, old_frame("a", 4) + old_frame("b", 4)) == 6);
}

TEST_CASE("A name that begins with a zero byte is found in every dialect", "[frames]") {
  const auto ready = [](const std::string& name) {
    std::string body = "\5READY\x0bSocket-Type\0\0\0\6DEALER"s;
    body += "\x08Identity\0\0\0"s;
    body += static_cast<char>(name.size());
    return body += name;
  };
  for (const auto& [greeting, make] : kDialects) {
    const bool is_command = greeting.size() == 64;
    for (const auto& name : {"\0abcd"s, "abcd"s, "a\0"s}) {
      const auto bytes =
          greeting + make(is_command ? ready(name) : name, is_command ? kCommand : 0);
      for (const std::size_t piece : {1, 7, 1000}) {
        CHECK(followed(bytes, piece).has_bad_name() == (name[0] == '\0'));
      }
    }
    CHECK_FALSE(followed(greeting + make("", 0) + make("\0a"s, 0), 5).has_bad_name());
  }
  CHECK(followed(kNew.greeting + frame(std::string(5000, 'x'), kCommand), 100).has_bad_name());
}

TEST_CASE("In ZMTP 2.0 no command ends a message", "[frames]") {
  const auto bytes =
      kDialects[2].greeting + frame("", 0) + frame("a", kMore) + frame("\x09SUBSCRIBEt", kCommand);
  CHECK(followed(bytes, 3).pending() == kCost + 1);
}

}  // namespace
}  // namespace phsic
