// A ZeroMQ socket in an Asio loop.
//
// The descriptor that ZeroMQ gives (ZMQ_FD) is edge-triggered, and every operation on the socket
// may consume the edge: so events are looked at before each wait, and again after every send.
// Belongs to the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

namespace phsic {

using Frames = std::vector<zmq::message_t>;

class Socket {
 public:
  Socket(boost::asio::io_context& loop, zmq::context_t& context, zmq::socket_type type);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket(Socket&&) = delete;
  Socket& operator=(Socket&&) = delete;

  [[nodiscard]] zmq::socket_t& zmq() { return socket_; }
  // Throws an Error that names the endpoint.
  void bind(const std::string& endpoint);
  void connect(const std::string& endpoint);
  // Where it is bound: with the port that was chosen for a wildcard.
  [[nodiscard]] const std::vector<std::string>& endpoints() const { return endpoints_; }

  // From now on calls `take` in the loop for each message.
  void read(std::function<void(Frames&)> take);
  // Calls it for what is there already, within these limits.
  void read_now(std::size_t messages, std::size_t bytes);
  void pause() { is_paused_ = true; }
  void resume();
  [[nodiscard]] bool is_paused() const { return is_paused_; }

  // Never waits.
  enum class Sent : unsigned char {
    kYes,
    kNotNow,  // no room
    kNobody,  // no such peer
  };
  // The frames of the envelope, then the body, which is moved away if it was sent.
  [[nodiscard]] Sent send(std::span<const std::string_view> envelope, zmq::message_t& body);

  // No more reading, no more sending.
  void close(int linger_milliseconds);

 private:
  void check();
  void check_soon();
  void wait();
  [[nodiscard]] bool receive();
  void hand_on();

  boost::asio::io_context& loop_;
  zmq::socket_t socket_;
  boost::asio::posix::stream_descriptor descriptor_;
  std::vector<std::string> endpoints_;
  std::function<void(Frames&)> take_;
  Frames frames_;
  bool is_paused_ = false;
  bool is_waiting_ = false;
  bool is_checking_soon_ = false;
};

}  // namespace phsic
