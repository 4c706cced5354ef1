#include "daemon/net/zmq_service.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>

namespace phsic::test {
namespace {

class NoHandler : public RequestHandler {
 public:
  void serve(const std::shared_ptr<Task>& /*task*/) override {
    throw RequestError("unknown_stream", "there is none");
  }
  [[nodiscard]] bool take_in(const std::shared_ptr<Task>& /*task*/) override { return false; }
  void take_in_at_last(const std::shared_ptr<Task>& /*task*/) override {}
};

TEST_CASE("A client that reads late gets every refusal, though nobody else is answered") {
  constexpr std::size_t kRequests = 20;
  constexpr auto kLong = std::chrono::seconds(60);
  boost::asio::io_context loop;
  zmq::context_t context;
  auto router = std::make_unique<Socket>(loop, context, zmq::socket_type::router);
  router->zmq().set(zmq::sockopt::router_mandatory, 1);
  router->zmq().set(zmq::sockopt::sndhwm, 1);
  router->bind("inproc://service");
  NoHandler handler;
  std::size_t told = 0;
  std::size_t flushed = 0;
  ZmqService service(
      loop, std::move(router), {1U << 20U, 10}, handler, [&](const Task&) { ++told; },
      [&] { ++flushed; });
  service.start();
  zmq::socket_t client(context, zmq::socket_type::dealer);
  client.set(zmq::sockopt::rcvhwm, 1);
  client.set(zmq::sockopt::linger, 0);
  client.connect("inproc://service");
  for (std::size_t i = 0; i < kRequests; ++i) {
    client.send(zmq::str_buffer(R"({"op":"score","pairs":[["a","b"]]})"));
  }
  while (service.requests() < kRequests) REQUIRE(loop.run_one_for(kLong) > 0);
  CHECK(service.has_unsent());
  std::size_t got = 0;
  zmq::message_t answer;
  while (got < kRequests) {
    if (client.recv(answer, zmq::recv_flags::dontwait)) {
      CHECK(answer.to_string_view().starts_with(R"({"ok":false)"));
      ++got;
    } else {
      REQUIRE(loop.run_one_for(kLong) > 0);
    }
  }
  CHECK_FALSE(service.has_unsent());
  CHECK(service.bad_requests() == kRequests);
  CHECK(flushed > 0);
  CHECK(told == 0);
}

}  // namespace
}  // namespace phsic::test
