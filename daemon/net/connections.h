// The connections that ZeroMQ has, and what their peers may make it keep.
//
// libzmq hands a message out when its last frame has come, and counts neither the frames until then
// nor their bytes; it has no call that ends a connection, and aborts at some of what peers may do.
// It reads by recv(2), writes by send(2) and accepts by accept4(2). connections.cc defines these
// functions for the whole process, and leaves them as they are but in the threads of libzmq. What
// libzmq reads is followed frame by frame, and whoever goes beyond the limits gets an error for a
// message, at which libzmq closes the connection and frees what it kept.
//
// A connection is known by its descriptor together with the kernel's cookie of the socket, so that
// a descriptor that was closed and used again is not taken for the old one. Thread safe.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/net/frame_follower.h"
#include "daemon/net/socket.h"

namespace phsic {

class Connections {
 public:
  struct Limits {
    std::uint64_t frame_bytes = 0;         // of one frame
    std::uint64_t message_bytes = 0;       // of all frames of one message
    std::uint64_t pending_bytes = 0;       // of messages that are not whole, all connections
    std::uint64_t topic_bytes = 0;         // of one subscription
    std::uint64_t subscription_bytes = 0;  // of all subscriptions that one connection ever sends
  };
  // What waits for the peer of a connection: answers to its requests, or messages of the feed.
  enum class Side : unsigned char { kRequests, kFeed };

  // From now on connections are watched. One at a time in a process. REQUIRES: outlives the
  // ZeroMQ contexts that are watched.
  explicit Connections(const Limits& limits);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  Connections(Connections&&) = delete;
  Connections& operator=(Connections&&) = delete;

  // Binds the socket, and takes whoever connects there for a subscriber.
  void bind_feed(Socket& socket, const std::vector<std::string>& endpoints);

  // Calls recv(2), and follows the frames that come.
  [[nodiscard]] ssize_t receive(int descriptor, void* buffer, std::size_t size, int flags) noexcept;

  // Calls send(2), and counts what the kernel has taken.
  [[nodiscard]] ssize_t send(int descriptor, const void* buffer, std::size_t size,
                             int flags) noexcept;

  // Calls accept4(2). A peer for whom there is no descriptor is turned away.
  [[nodiscard]] int accept(int descriptor, sockaddr* address, socklen_t* length,
                           int flags) noexcept;
  // Tells the log how many peers were turned away. To be called about once a second.
  void tell_turned_away();

  // Forgets connections that are closed.
  void forget_closed();
  // Notes what each peer has read; where too much waits, closes those that have read nothing at
  // the last kPatience looks although something waits for them. To be called about once a second.
  struct Crowded {
    bool requests = false;
    bool feed = false;
  };
  // On a busy machine a peer that reads may not come to it for seconds.
  static constexpr int kPatience = 5;
  void look(const Crowded& crowded);

  // How many were closed because of their peers.
  [[nodiscard]] std::uint64_t cut() const;

 private:
  struct Connection {
    std::uint64_t cookie = 0;
    Side side = Side::kRequests;
    FrameFollower frames;
    std::uint64_t sent = 0;  // what the kernel has taken
    // At the last look.
    std::uint64_t sent_before = 0;
    int unsent_before = 0;
    int looks_unread = 0;  // since the peer has read anything
  };
  using Table = std::unordered_map<int, Connection>;

  [[nodiscard]] Connection* find(int descriptor);
  [[nodiscard]] Side side_of(int descriptor) const;
  [[nodiscard]] std::string follow(int descriptor, void* buffer, std::size_t size, int flags,
                                   ssize_t& got);
  void keep_spare();
  [[nodiscard]] std::string problem_of(const Connection& connection) const;
  Table::iterator forget(Table::iterator found);

  const Limits limits_;
  const int most_descriptors_;
  mutable std::mutex mutex_;  // guards what follows
  Table table_;
  std::vector<std::string> feed_;  // endpoints
  std::uint64_t pending_ = 0;      // of all
  std::uint64_t cut_ = 0;
  std::uint64_t turned_away_ = 0;  // since the log was told
  int spare_ = -1;                 // given up for a moment to close a connection that is too much
};

}  // namespace phsic
