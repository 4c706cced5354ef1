#include "daemon/net/socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>

#include <boost/asio/post.hpp>

#include "core/error.h"
#include "daemon/log.h"

namespace phsic {
namespace {

// Messages read before other sockets and timers have their turn.
constexpr int kTurn = 64;
// No message has so many; further frames are dropped as they are read.
constexpr std::size_t kMostFrames = 16;

constexpr std::string_view kIpc = "ipc://";

// Whether something is there that is not a socket. ZeroMQ would remove it.
bool is_other_file(const std::string& path) {
  struct stat status {};
  if (path.empty() || path[0] == '@' || path == "*") return false;
  return ::lstat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode);
}

bool is_listening(const std::string& path) {
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return false;
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  if (path[0] == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return false;
  const bool connected =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), length) == 0 || errno == EAGAIN;
  ::close(probe);
  return connected;
}

}  // namespace

Socket::Socket(boost::asio::io_context& loop, zmq::context_t& context, zmq::socket_type type)
    : loop_(loop), socket_(context, type), descriptor_(loop, socket_.get(zmq::sockopt::fd)) {}

Socket::~Socket() {
  // The descriptor is ZeroMQ's.
  if (descriptor_.is_open()) descriptor_.release();
}

void Socket::bind(const std::string& endpoint) {
  if (endpoint.starts_with(kIpc)) {
    const auto path = endpoint.substr(kIpc.size());
    // ZeroMQ would silently take such a socket away from whoever has it.
    if (is_listening(path)) {
      throw Error(fmt::format("{}: cannot be bound: another process listens there", endpoint));
    }
    if (is_other_file(path)) {
      throw Error(
          fmt::format("{}: cannot be bound: found a file there, expected nothing or a socket that "
                      "nobody listens at",
                      endpoint));
    }
  }
  try {
    socket_.bind(endpoint);
  } catch (const zmq::error_t& problem) {
    throw Error(fmt::format("{}: cannot be bound: {}", endpoint, problem.what()));
  }
  endpoints_.push_back(socket_.get(zmq::sockopt::last_endpoint));
}

void Socket::connect(const std::string& endpoint) {
  try {
    socket_.connect(endpoint);
  } catch (const zmq::error_t& problem) {
    throw Error(fmt::format("{}: cannot be connected to: {}", endpoint, problem.what()));
  }
}

void Socket::read(std::function<void(Frames&)> take) {
  take_ = std::move(take);
  check_soon();
}

void Socket::read_now(std::size_t messages, std::size_t bytes) {
  for (std::size_t read = 0; messages > 0 && read < bytes && receive(); --messages) {
    for (const auto& frame : frames_) read += frame.size();
    hand_on();
  }
  check_soon();
}

void Socket::resume() {
  is_paused_ = false;
  check_soon();
}

void Socket::check_soon() {
  if (is_checking_soon_ || !take_) return;
  is_checking_soon_ = true;
  boost::asio::post(loop_, [this] {
    is_checking_soon_ = false;
    check();
  });
}

void Socket::check() {
  for (int i = 0; i < kTurn; ++i) {
    if (is_paused_ || !descriptor_.is_open()) return;
    if (!receive()) {
      wait();
      return;
    }
    hand_on();
  }
  check_soon();
}

// One message that there is no memory for must not end everything.
void Socket::hand_on() {
  try {
    take_(frames_);
  } catch (const std::bad_alloc&) {
    log(LogLevel::kError, "no memory for a message");
  }
  frames_.clear();  // the next one may come much later
}

void Socket::wait() {
  if (is_waiting_) return;
  is_waiting_ = true;
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](const boost::system::error_code& error) {
                           if (error == boost::asio::error::operation_aborted) return;
                           is_waiting_ = false;
                           check();
                         });
}

// Reads a whole message, if there is one. A message's frames come all or none.
bool Socket::receive() {
  frames_.clear();
  while (true) {
    zmq::message_t frame;
    if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return false;
    const bool more = frame.more();
    if (frames_.size() < kMostFrames) frames_.push_back(std::move(frame));
    if (!more) return true;
  }
}

Socket::Sent Socket::send(std::span<const std::string_view> envelope, zmq::message_t& body) {
  check_soon();
  try {
    for (const auto frame : envelope) {
      if (!socket_.send(zmq::buffer(frame), zmq::send_flags::sndmore | zmq::send_flags::dontwait)) {
        return Sent::kNotNow;
      }
    }
    if (!socket_.send(body, zmq::send_flags::dontwait)) return Sent::kNotNow;
  } catch (const zmq::error_t&) {
    return Sent::kNobody;
  }
  return Sent::kYes;
}

void Socket::close(int linger_milliseconds) {
  if (!descriptor_.is_open()) return;
  descriptor_.release();
  take_ = nullptr;
  socket_.set(zmq::sockopt::linger, linger_milliseconds);
  socket_.close();
}

}  // namespace phsic
