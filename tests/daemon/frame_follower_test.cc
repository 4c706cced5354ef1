#include "daemon/frame_follower.h"

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
    // What one that knows no greeting sends first is its name, even a long one.
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

}  // namespace
}  // namespace phsic
