#include "daemon/net/endpoint.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/daemon/configs.h"

namespace phsic::tests {

TEST_CASE("Only loopback is bound to unless the daemon is exposed") {
  for (const char* local : {"tcp://127.0.0.1:1", "tcp://127.8.9.1:1", "tcp://127.0.0.1:*",
                            "tcp://[::1]:1", "tcp://lo:1", "ipc:///run/x", "inproc://x"}) {
    INFO(local);
    CHECK(complaint(fmt::format("service: '{}'\n{}", local, kOneStream)) == "none");
  }
  for (const char* reachable :
       {"tcp://*:1", "tcp://*:*", "tcp://0.0.0.0:1", "tcp://10.0.0.1:1", "tcp://eth0:1",
        "tcp://[::]:1", "tcp://127.example.org:1", "tcp://[::ffff:10.0.0.1]:1"}) {
    INFO(reachable);
    const auto text = fmt::format("service: '{}'\n{}", reachable, kOneStream);
    CHECK(complaint(text) ==
          fmt::format("c.yaml:1: service: found \"{}\", expected a loopback address such as "
                      "127.0.0.1: anyone who reaches the port can read and teach; exposed: true "
                      "allows it",
                      reachable));
    CHECK(complaint(text, {{"exposed", "true"}}) == "none");
  }
  CHECK(complaint("streams: {a: {ingest: 'tcp://0.0.0.0:9'}}").find("streams.a.ingest: found") !=
        std::string::npos);
}

TEST_CASE("Endpoints of another form are refused") {
  const std::vector<std::string> forms = {"",
                                          "tcp",
                                          "tcp://",
                                          "tcp://:1",
                                          "tcp://127.0.0.1",
                                          "tcp://127.0.0.1:",
                                          "tcp://127.0.0.1:0",
                                          "tcp://127.0.0.1:65536",
                                          "tcp://127.0.0.1:1x",
                                          "tcp://127.0.0:1",
                                          "tcp://1.2.3.256:1",
                                          "tcp://::1:1",
                                          "tcp://[::1:1",
                                          "tcp://[x]:1",
                                          "tcp://localhost:1",
                                          "tcp://a;b:1",
                                          "ipc://",
                                          "ipc://@",
                                          "inproc://",
                                          "udp://127.0.0.1:1",
                                          "TCP://127.0.0.1:1",
                                          "ipc:///" + std::string(107, 'x')};
  for (const auto& wrong : forms) {
    INFO(wrong);
    CHECK(complaint(fmt::format("service: '{}'\nexposed: true\n{}", wrong, kOneStream))
              .find("c.yaml:1: service: found ") == 0);
  }
  CHECK(complaint(with_stream(fmt::format("service: ipc:///{}\n", std::string(106, 'x')))) ==
        "none");
}

TEST_CASE("No endpoint is bound to twice") {
  CHECK(complaint(with_stream("service: [tcp://127.0.0.1:1, tcp://127.0.0.1:01]\n")) ==
        "c.yaml:1: service[1]: found \"tcp://127.0.0.1:01\", which is an endpoint of service[0] "
        "already, expected another");
  CHECK(complaint(with_stream("service: tcp://127.0.0.1:7472\n")) ==
        "c.yaml:1: service: found \"tcp://127.0.0.1:7472\", which is an endpoint of feed already, "
        "expected another");
  CHECK(complaint("streams:\n  a: {ingest: 'inproc://x'}\n  b: {ingest: 'inproc://x'}\n") ==
        "c.yaml:3: streams.b.ingest: found \"inproc://x\", which is an endpoint of "
        "streams.a.ingest already, expected another");
  CHECK(complaint(with_stream("defaults: {ingest: 'inproc://x'}\n")) ==
        "c.yaml:1: defaults.ingest: found endpoints for all streams, expected them in a stream");
  CHECK(complaint(with_stream("service: ['tcp://127.0.0.1:*', 'tcp://127.0.0.1:*']\n")) == "none");
}

}  // namespace phsic::tests
