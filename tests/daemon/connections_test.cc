// What Connections does for connections of libzmq. The test thread takes a name of libzmq's threads
// to count as one.
#include "daemon/net/connections.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <thread>

namespace phsic::test {
namespace {

constexpr Connections::Limits kLimits{1000, 1000, 1000, 100, 1000};

// Two ends of a local connection.
struct Ends {
  Ends() {
    std::array<int, 2> made{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, made.data()) == 0);
    ours = made[0];
    theirs = made[1];
  }
  ~Ends() {
    close(ours);
    close(theirs);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  Ends(Ends&&) = delete;
  Ends& operator=(Ends&&) = delete;

  int ours = -1;
  int theirs = -1;
};

// A greeting, and the begin of a frame of 2^56 bytes.
std::string endless_frame() {
  return "\xff" + std::string(8, '\0') + "\x7f\x03" + std::string(53, '\0') + "\x02\x01" +
         std::string(7, '\0');
}

TEST_CASE("What is read by other threads than libzmq's is not followed") {
  Connections connections(kLimits);
  const auto bytes = endless_frame();
  const auto read_as = [&](const char* thread) {
    const Ends ends;
    REQUIRE(::write(ends.theirs, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
    ssize_t got = 0;
    std::thread([&] {
      pthread_setname_np(pthread_self(), thread);
      std::array<char, 1000> buffer{};
      got = ::recv(ends.ours, buffer.data(), buffer.size(), 0);
      if (got < 0) got = -errno;
    }).join();
    return got;
  };
  CHECK(read_as("encoder") == ssize_t(bytes.size()));
  CHECK(connections.cut() == 0);
  CHECK(read_as("ZMQbg/IO/7") == -ECONNRESET);
  CHECK(connections.cut() == 1);
}

TEST_CASE("A peer that reads is left alone, however much waits for it") {
  Connections connections(kLimits);
  const Ends ends;
  std::array<char, 4096> buffer{};
  REQUIRE(::write(ends.theirs, "\xff", 1) == 1);
  REQUIRE(connections.receive(ends.ours, buffer.data(), buffer.size(), 0) == 1);
  const auto fill = [&] {
    while (connections.send(ends.ours, buffer.data(), buffer.size(), 0) > 0) {
    }
  };
  const Connections::Crowded crowded{true, false};
  fill();
  connections.look(crowded);
  for (int i = 0; i < 2 * Connections::kPatience; ++i) {
    // At each look as much waits as before.
    REQUIRE(::read(ends.theirs, buffer.data(), buffer.size()) == ssize_t(buffer.size()));
    fill();
    connections.look(crowded);
    CHECK(connections.cut() == 0);
  }
  // A peer may be too busy to read for a while.
  for (int i = 1; i < Connections::kPatience; ++i) connections.look(crowded);
  // Then the connection is closed, but only while too much waits on its side.
  connections.look({});
  connections.look({false, true});
  CHECK(connections.cut() == 0);
  connections.look(crowded);
  CHECK(connections.cut() == 1);
}

}  // namespace
}  // namespace phsic::test
