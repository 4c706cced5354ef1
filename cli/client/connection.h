// A ZeroMQ socket that is connected to one endpoint of a daemon, and knows whether somebody is
// there.
//
// Nothing is queued for nobody (ZMQ_IMMEDIATE): what send() took is on its way to a daemon that is
// connected. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

namespace phsic {

using Milliseconds = std::chrono::milliseconds;

class Connection {
 public:
  // `socket` is what the daemon calls it: "service", "ingest" or "feed". `topics` are for a SUB.
  // Throws an Error if the endpoint is none. Does not wait.
  Connection(zmq::socket_type type, std::string endpoint, std::string socket,
             const std::vector<std::string>& topics = {});

  // Waits until a daemon is there. Throws an Error that says what to check if none comes.
  void await_daemon(Milliseconds timeout);
  // Is a daemon there? Has the connection been lost since await_daemon()?
  [[nodiscard]] bool is_up();
  [[nodiscard]] bool was_lost();

  // Takes the message if there is room, at once. False if there is none.
  [[nodiscard]] bool send(std::string_view message);
  // The frames of the next message, if there is one.
  [[nodiscard]] std::optional<std::vector<std::string>> receive();
  // Waits until a message can be sent or received, the connection is made or lost, a signal comes,
  // or the time is up.
  void wait_to_send(Milliseconds timeout) { wait(ZMQ_POLLOUT, timeout); }
  void wait_to_receive(Milliseconds timeout) { wait(ZMQ_POLLIN, timeout); }

  // Closes, once all messages have been handed to the network. False if not all could be.
  [[nodiscard]] bool flush(Milliseconds timeout);

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  // The endpoint, for messages: a daemon may have named it.
  [[nodiscard]] std::string shown() const;

 private:
  void wait(short what, Milliseconds timeout);
  void take_events();

  std::string endpoint_;
  std::string name_;  // of the daemon's socket
  zmq::context_t context_;
  zmq::socket_t socket_;
  zmq::socket_t monitor_;  // tells what becomes of the connection
  bool up_ = false;
  bool lost_ = false;
  bool misunderstood_ = false;  // somebody is there who speaks otherwise
};

}  // namespace phsic
