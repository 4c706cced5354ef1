#include "daemon/net/connections.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>

#include "daemon/log.h"

namespace phsic {
namespace {

std::atomic<Connections*> watching{nullptr};

// For files, libraries and listening sockets.
constexpr int kDescriptorsOfOurs = 64;

// libzmq names its threads.
bool is_thread_of_zeromq() {
  thread_local const bool kIsOne = [] {
    std::array<char, 16> name{};
    return ::pthread_getname_np(::pthread_self(), name.data(), name.size()) == 0 &&
           std::string_view(name.data()).starts_with("ZMQbg/");
  }();
  return kIsOne;
}

// Who watches what this thread reads and writes; null: nobody.
Connections* watcher() { return is_thread_of_zeromq() ? watching.load() : nullptr; }

// 0 where the kernel knows none.
std::uint64_t cookie_of(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) return 0;
  return cookie;
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);

// As ZeroMQ writes an endpoint: tcp://127.0.0.1:7472, ipc:///run/phsicd/feed. Empty: none.
std::string endpoint_of(int descriptor, NameOf name_of) {
  sockaddr_storage storage{};
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  socklen_t size = sizeof(storage);
  if (name_of(descriptor, address, &size) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    const auto* inet = reinterpret_cast<const sockaddr_in*>(address);
    inet_ntop(AF_INET, &inet->sin_addr, text.data(), text.size());
    return fmt::format("tcp://{}:{}", text.data(), ntohs(inet->sin_port));
  }
  if (address->sa_family == AF_INET6) {
    const auto* inet = reinterpret_cast<const sockaddr_in6*>(address);
    inet_ntop(AF_INET6, &inet->sin6_addr, text.data(), text.size());
    return fmt::format("tcp://[{}]:{}", text.data(), ntohs(inet->sin6_port));
  }
  if (address->sa_family != AF_UNIX) return {};
  const auto* local = reinterpret_cast<const sockaddr_un*>(address);
  std::string path(local->sun_path, size - offsetof(sockaddr_un, sun_path));
  if (!path.empty() && path.front() == '\0') {
    path.front() = '@';  // an abstract name
  } else {
    path.resize(std::min(path.find('\0'), path.size()));
  }
  return fmt::format("ipc://{}", path);
}

// For the log: an address, or the process at the other end of a local socket.
std::string peer_of(int descriptor) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  auto endpoint = endpoint_of(descriptor, ::getpeername);
  if (endpoint.starts_with("ipc://") &&
      ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    return fmt::format("pid {}, uid {}", credentials.pid, credentials.uid);
  }
  return endpoint;
}

// Is `local` where a socket is bound to all addresses of a port?
bool is_at_any_address(const std::string& local, const std::string& bound) {
  const auto port_of = [](const std::string& endpoint) {
    return endpoint.substr(std::min(endpoint.rfind(':'), endpoint.size()));
  };
  const bool is_any = bound.starts_with("tcp://0.0.0.0:") || bound.starts_with("tcp://[::]:");
  return is_any && local.starts_with("tcp://") && port_of(local) == port_of(bound);
}

// What the kernel has not got rid of.
int unsent_of(int descriptor) {
  int unsent = 0;
  return ::ioctl(descriptor, TIOCOUTQ, &unsent) == 0 ? unsent : 0;
}

void shut_down(int descriptor, std::uint64_t cookie) {
  // The copy stays the same socket whatever libzmq does with its descriptor meanwhile.
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return;
  if (cookie_of(copy) == cookie) ::shutdown(copy, SHUT_RDWR);
  ::close(copy);
}

int accept_now(int descriptor, sockaddr* address, socklen_t* length, int flags) {
  return static_cast<int>(::syscall(SYS_accept4, descriptor, address, length, flags));
}

// As many as the system gives, within reason. Returns how many.
int raise_descriptor_limit() {
  constexpr rlim_t kEnough = 1U << 16U;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return INT_MAX;
  const rlimit raised{std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnough)), limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

void tell(const std::string& peer, const std::string& problem) {
  log(LogLevel::kWarning, "connection closed", {{"peer", peer}, {"problem", problem}});
}

}  // namespace

Connections::Connections(const Limits& limits)
    : limits_(limits), most_descriptors_(raise_descriptor_limit() - kDescriptorsOfOurs) {
  keep_spare();
  watching = this;
}

Connections::~Connections() {
  watching = nullptr;
  if (spare_ >= 0) ::close(spare_);
}

void Connections::bind_feed(Socket& socket, const std::vector<std::string>& endpoints) {
  const std::lock_guard lock(mutex_);  // nobody is looked at before it is known where the feed is
  for (const auto& endpoint : endpoints) socket.bind(endpoint);
  feed_ = socket.endpoints();
}

Connections::Side Connections::side_of(int descriptor) const {
  const auto local = endpoint_of(descriptor, ::getsockname);
  const bool is_feed = std::any_of(feed_.begin(), feed_.end(), [&](const std::string& bound) {
    return local == bound || is_at_any_address(local, bound);
  });
  return is_feed ? Side::kFeed : Side::kRequests;
}

Connections::Connection* Connections::find(int descriptor) {
  const auto cookie = cookie_of(descriptor);
  if (cookie == 0) return nullptr;
  const auto found = table_.find(descriptor);
  if (found != table_.end() && found->second.cookie == cookie) return &found->second;
  if (found != table_.end()) forget(found);
  auto& connection = table_[descriptor];
  connection.cookie = cookie;
  connection.side = side_of(descriptor);
  return &connection;
}

Connections::Table::iterator Connections::forget(Table::iterator found) {
  pending_ -= found->second.frames.pending();
  return table_.erase(found);
}

std::string Connections::problem_of(const Connection& connection) const {
  const auto& frames = connection.frames;
  if (frames.has_bad_name()) return "found a name that begins with a zero byte, expected another";
  const auto most = connection.side == Side::kFeed ? limits_.topic_bytes : limits_.frame_bytes;
  if (frames.largest() > most) {
    return fmt::format("found a frame of {} bytes, expected at most {}", frames.largest(), most);
  }
  if (frames.pending() > limits_.message_bytes) {
    return fmt::format("found a message of more than {} bytes, expected at most so many",
                       limits_.message_bytes);
  }
  // Each may have as much as is still free, so that none takes all of it.
  if (frames.pending() > 0 && frames.pending() + pending_ > limits_.pending_bytes) {
    return fmt::format("found {} bytes of messages that are not whole, expected at most {}",
                       pending_, limits_.pending_bytes);
  }
  if (connection.side == Side::kFeed && frames.received() > limits_.subscription_bytes) {
    return fmt::format("found more than {} bytes of subscriptions", limits_.subscription_bytes);
  }
  return {};
}

// Reads, and says what is wrong with the connection now; empty: nothing.
std::string Connections::follow(int descriptor, void* buffer, std::size_t size, int flags,
                                ssize_t& got) {
  const std::lock_guard lock(mutex_);
  auto* connection = find(descriptor);
  const auto* bytes = static_cast<const unsigned char*>(buffer);
  if (connection != nullptr && connection->frames.left() < size) {
    got = ::recvfrom(descriptor, buffer, size, flags | MSG_PEEK, nullptr, nullptr);
    if (got <= 0) return {};
    size = connection->frames.before_command({bytes, static_cast<std::size_t>(got)});
  }
  got = ::recvfrom(descriptor, buffer, size, flags, nullptr, nullptr);
  if (connection == nullptr || got <= 0) return {};
  pending_ -= connection->frames.pending();
  connection->frames.follow({bytes, static_cast<std::size_t>(got)});
  pending_ += connection->frames.pending();
  auto problem = problem_of(*connection);
  if (problem.empty()) return problem;
  ++cut_;
  forget(table_.find(descriptor));
  return problem;
}

ssize_t Connections::receive(int descriptor, void* buffer, std::size_t size, int flags) noexcept {
  if ((flags & MSG_PEEK) != 0) {
    return ::recvfrom(descriptor, buffer, size, flags, nullptr, nullptr);
  }
  try {
    ssize_t got = 0;
    const auto problem = follow(descriptor, buffer, size, flags, got);
    if (problem.empty()) return got;
    tell(peer_of(descriptor), problem);
  } catch (const std::exception&) {
    // No memory to follow it: it is not followed any further, and not served.
  }
  errno = ECONNRESET;
  return -1;
}

// Whoever connects when there are no descriptors is turned away: libzmq would abort, or try again
// for ever. Some are left for files.
int Connections::accept(int descriptor, sockaddr* address, socklen_t* length, int flags) noexcept {
  auto made = accept_now(descriptor, address, length, flags);
  if (made >= 0 && made < most_descriptors_) return made;
  if (made < 0 && errno != EMFILE && errno != ENFILE) return made;
  const std::lock_guard lock(mutex_);
  if (made < 0 && spare_ >= 0) {
    ::close(std::exchange(spare_, -1));
    made = accept_now(descriptor, address, length, flags);
  }
  if (made >= 0) ::close(made);
  keep_spare();
  ++cut_;
  ++turned_away_;
  errno = ECONNABORTED;
  return -1;
}

void Connections::keep_spare() {
  if (spare_ < 0) spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void Connections::tell_turned_away() {
  std::uint64_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    count = std::exchange(turned_away_, 0);
    keep_spare();
  }
  if (count == 0) return;
  log(LogLevel::kWarning, "connections refused",
      {{"connections", count},
       {"problem", fmt::format("found {} descriptors in use, expected fewer", most_descriptors_)}});
}

void Connections::forget_closed() {
  const std::lock_guard lock(mutex_);
  for (auto it = table_.begin(); it != table_.end();) {
    it = cookie_of(it->first) == it->second.cookie ? std::next(it) : forget(it);
  }
}

ssize_t Connections::send(int descriptor, const void* buffer, std::size_t size,
                          int flags) noexcept {
  const auto taken = ::sendto(descriptor, buffer, size, flags, nullptr, 0);
  if (taken <= 0) return taken;
  const std::lock_guard lock(mutex_);
  // The cookie is not checked. At worst, the bytes count for a connection that was closed
  // meanwhile, which look() then spares once.
  if (const auto found = table_.find(descriptor); found != table_.end()) {
    found->second.sent += static_cast<std::uint64_t>(taken);
  }
  return taken;
}

// A peer reads where less waits than before, or where the kernel has room for more.
void Connections::look(const Crowded& crowded) {
  const std::lock_guard lock(mutex_);
  for (auto& [descriptor, connection] : table_) {
    const auto unsent = unsent_of(descriptor);
    const auto unsent_before = std::exchange(connection.unsent_before, unsent);
    const auto sent_before = std::exchange(connection.sent_before, connection.sent);
    const bool has_read = unsent == 0 || unsent != unsent_before || connection.sent != sent_before;
    connection.looks_unread = has_read ? 0 : connection.looks_unread + 1;
    const bool is_feed = connection.side == Side::kFeed;
    if (!(is_feed ? crowded.feed : crowded.requests)) continue;
    if (connection.looks_unread < kPatience) continue;
    connection.looks_unread = 0;
    ++cut_;
    tell(peer_of(descriptor),
         is_feed ? "the subscriber does not read" : "the client does not read its answers");
    shut_down(descriptor, connection.cookie);
  }
}

std::uint64_t Connections::cut() const {
  const std::lock_guard lock(mutex_);
  return cut_;
}

}  // namespace phsic

// The linker takes these for the C library's, in libzmq, too. Encoders may have sockets of their
// own.
//
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): theirs are reserved names
extern "C" __attribute__((visibility("default"))) ssize_t recv(int descriptor, void* buffer,
                                                               std::size_t size, int flags) {
  auto* connections = phsic::watcher();
  if (connections == nullptr) {
    return ::recvfrom(descriptor, buffer, size, flags, nullptr, nullptr);
  }
  return connections->receive(descriptor, buffer, size, flags);
}

extern "C" __attribute__((visibility("default"))) ssize_t send(int descriptor, const void* buffer,
                                                               std::size_t size, int flags) {
  auto* connections = phsic::watcher();
  if (connections == nullptr) {
    return ::sendto(descriptor, buffer, size, flags, nullptr, 0);
  }
  return connections->send(descriptor, buffer, size, flags);
}

extern "C" __attribute__((visibility("default"))) int accept4(int descriptor, sockaddr* address,
                                                              socklen_t* length, int flags) {
  auto* connections = phsic::watcher();
  if (connections == nullptr) {
    return phsic::accept_now(descriptor, address, length, flags);
  }
  return connections->accept(descriptor, address, length, flags);
}

extern "C" __attribute__((visibility("default"))) int accept(int descriptor, sockaddr* address,
                                                             socklen_t* length) {
  return accept4(descriptor, address, length, 0);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
