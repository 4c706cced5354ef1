#include "cli/client/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "wire/printable.h"

namespace phsic {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kMonitor = "inproc://monitor";
constexpr int kEvents = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                        ZMQ_EVENT_DISCONNECTED;
// A sender should feel soon that the daemon does not keep up, and lose little when it goes away.
constexpr int kSendQueue = 64;
// The feed of a daemon in full swing, while our reader takes a breath.
constexpr int kReceiveQueue = 100'000;
constexpr int kReconnect = 100;  // milliseconds
// Seconds, and how often: so that a host that vanished is noticed. Not by heartbeats of ZeroMQ's
// own: libzmq 4.3 aborts (out_event: !_io_error) when one is due to a peer that hung up while what
// it sent was not read.
constexpr int kKeepAliveIdle = 10;
constexpr int kKeepAliveInterval = 5;
constexpr int kKeepAliveCount = 3;

}  // namespace

Connection::Connection(zmq::socket_type type, std::string endpoint, std::string socket,
                       const std::vector<std::string>& topics)
    : endpoint_(std::move(endpoint)),
      name_(std::move(socket)),
      socket_(context_, type),
      monitor_(context_, zmq::socket_type::pair) {
  socket_.set(zmq::sockopt::linger, 0);
  monitor_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::sndhwm, kSendQueue);
  socket_.set(zmq::sockopt::rcvhwm, kReceiveQueue);
  socket_.set(zmq::sockopt::reconnect_ivl, kReconnect);
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  socket_.set(zmq::sockopt::tcp_keepalive_idle, kKeepAliveIdle);
  socket_.set(zmq::sockopt::tcp_keepalive_intvl, kKeepAliveInterval);
  socket_.set(zmq::sockopt::tcp_keepalive_cnt, kKeepAliveCount);
  // Not for names: of localhost only ::1 would be tried.
  socket_.set(zmq::sockopt::ipv6, endpoint_.find('[') != std::string::npos);
  for (const auto& topic : topics) socket_.set(zmq::sockopt::subscribe, topic);
  if (zmq_socket_monitor(socket_.handle(), kMonitor, kEvents) != 0) throw zmq::error_t();
  monitor_.connect(kMonitor);
  try {
    socket_.connect(endpoint_);
  } catch (const zmq::error_t& problem) {
    throw Error(fmt::format(
        "{}: {}, expected an endpoint such as tcp://HOST:PORT or ipc:///PATH of the daemon's {}",
        shown(), problem.what(), name_));
  }
}

void Connection::await_daemon(Milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!is_up()) {
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) break;
    wait(0, left);
  }
  if (up_) return;
  if (misunderstood_) {
    throw Error(fmt::format(
        "{}: somebody is there who is not the {} of phsicd; check the endpoint against the "
        "daemon's configuration",
        shown(), name_));
  }
  throw Error(
      fmt::format("{}: nobody answers; check that phsicd runs and that this is its {} endpoint",
                  shown(), name_));
}

std::string Connection::shown() const { return printable(endpoint_); }

bool Connection::is_up() {
  take_events();
  return up_;
}

bool Connection::was_lost() {
  take_events();
  return lost_;
}

bool Connection::send(std::string_view message) {
  return socket_.send(zmq::buffer(message), zmq::send_flags::dontwait).has_value();
}

std::optional<std::vector<std::string>> Connection::receive() {
  std::vector<std::string> frames;
  zmq::message_t frame;
  do {
    // A message comes whole: only its first frame may have to be waited for.
    if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
    frames.push_back(frame.to_string());
  } while (frame.more());
  return frames;
}

void Connection::wait(short what, Milliseconds timeout) {
  zmq::pollitem_t items[] = {{monitor_.handle(), 0, ZMQ_POLLIN, 0}, {socket_.handle(), 0, what, 0}};
  const std::size_t count = what == 0 ? 1 : 2;
  try {
    zmq::poll(items, count, timeout);
  } catch (const zmq::error_t& problem) {
    if (problem.num() != EINTR) throw;
  }
}

void Connection::take_events() {
  zmq::message_t frame;
  while (monitor_.recv(frame, zmq::recv_flags::dontwait)) {
    std::uint16_t event = 0;
    if (frame.size() >= sizeof event) std::memcpy(&event, frame.data(), sizeof event);
    while (frame.more()) {
      if (!monitor_.recv(frame)) break;  // the address
    }
    switch (event) {
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: up_ = true; break;
      case ZMQ_EVENT_DISCONNECTED:
        // A peer that hangs up before the handshake may be a socket of another kind.
        (up_ ? lost_ : misunderstood_) = true;
        up_ = false;
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: misunderstood_ = true; break;
      default: break;
    }
  }
}

bool Connection::flush(Milliseconds timeout) {
  if (was_lost()) return false;
  socket_.set(zmq::sockopt::linger, static_cast<int>(timeout.count()));
  const auto deadline = Clock::now() + timeout;
  socket_.close();
  monitor_.close();
  context_.close();  // waits for what lingers
  return Clock::now() < deadline;
}

}  // namespace phsic
