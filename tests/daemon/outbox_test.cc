#include "daemon/net/outbox.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"

namespace phsic::test {
namespace {

// A daemon's socket for requests, with clients that read nothing unless they are told to.
class Clients {
 public:
  Clients() {
    router_.zmq().set(zmq::sockopt::router_mandatory, 1);
    router_.bind("inproc://service");
    router_.read([this](Frames&) { ++known_; });
  }

  // Makes a client known by its name.
  void add(const std::string& name) {
    auto& client = clients_.emplace_back(context_, zmq::socket_type::dealer);
    client.set(zmq::sockopt::routing_id, name);
    client.set(zmq::sockopt::linger, 0);
    client.connect("inproc://service");
    client.send(zmq::str_buffer("hello"));
    while (known_ < clients_.size()) loop_.poll();
  }
  // How many bytes the newest client has got.
  std::size_t read_newest() {
    zmq::message_t message;
    return clients_.back().recv(message) ? message.size() : 0;
  }
  [[nodiscard]] Socket& router() { return router_; }

 private:
  boost::asio::io_context loop_;
  zmq::context_t context_;
  Socket router_{loop_, context_, zmq::socket_type::router};
  std::vector<zmq::socket_t> clients_;
  std::size_t known_ = 0;
};

TEST_CASE("Whatever others leave unread, short answers of a client that reads are not lost") {
  constexpr std::size_t kHoarders = 50;
  constexpr std::size_t kAnswer = 15'000;
  Clients clients;
  Outbox outbox(clients.router());
  Random random(7);
  int refused = 0;
  for (std::size_t i = 0; i < kHoarders; ++i) clients.add("hoarder" + std::to_string(i));
  clients.add("reader");
  for (int round = 0; round < 300; ++round) {
    // Large ones first: one alone must not take what is left.
    const auto most = std::size_t{64U << 20U} >> std::min(round / 4, 12);
    const auto hoarder = "hoarder" + std::to_string(random.below(kHoarders));
    refused += outbox.send(hoarder, false, std::string(random.below(most) + 1, 'a')) ? 0 : 1;
    REQUIRE(outbox.send("reader", false, std::string(kAnswer, 'b')));
    REQUIRE(clients.read_newest() == kAnswer);
  }
  CHECK(refused > 0);
  // The unread answers of the reader have a bound, too.
  for (int i = 0; i < 100; ++i) static_cast<void>(outbox.send("reader", false, "c"));
  CHECK_FALSE(outbox.send("reader", false, std::string(std::size_t{64} << 20U, 'd')));
}

TEST_CASE("An answer larger than all that is kept is sent when nothing else waits") {
  Clients clients;
  Outbox outbox(clients.router());
  clients.add("reader");
  constexpr std::size_t kHuge = std::size_t{200} << 20U;
  REQUIRE(outbox.send("reader", false, std::string(kHuge, 'a')));
  CHECK(clients.read_newest() == kHuge);
  CHECK(outbox.lost() == 0);
}

}  // namespace
}  // namespace phsic::test
