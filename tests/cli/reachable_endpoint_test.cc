#include "cli/client/reachable_endpoint.h"

#include <catch2/catch.hpp>
#include <vector>

namespace phsic::test {
namespace {

std::string reach(const std::vector<std::string>& bound, std::string_view service) {
  return reachable_endpoint(bound, service);
}

TEST_CASE("An endpoint that names its host is taken as it is") {
  CHECK(reach({"tcp://10.0.0.7:7471"}, "tcp://127.0.0.1:7470") == "tcp://10.0.0.7:7471");
  CHECK(reach({"ipc:///run/phsic/ingest"}, "ipc:///run/phsic/service") ==
        "ipc:///run/phsic/ingest");
}

TEST_CASE("An endpoint on every interface is reached where the service was") {
  for (const char* host : {"*", "0.0.0.0", "[::]", "::"}) {
    CAPTURE(host);
    const std::string bound = std::string("tcp://").append(host).append(":7471");
    CHECK(reach({bound}, "tcp://example.org:7470") == "tcp://example.org:7471");
    CHECK(reach({bound}, "tcp://[::1]:9") == "tcp://[::1]:7471");
  }
}

TEST_CASE("A client that came by a path finds every interface on this machine") {
  CHECK(reach({"tcp://*:7471"}, "ipc:///run/phsic/service") == "tcp://127.0.0.1:7471");
  CHECK(reach({"tcp://0.0.0.0:7471"}, "tcp://0.0.0.0:7470") == "tcp://127.0.0.1:7471");
}

TEST_CASE("Of several endpoints the one like the service's is taken") {
  const std::vector<std::string> bound = {"ipc:///run/feed", "tcp://*:7472", "tcp://*:7473"};
  CHECK(reach(bound, "tcp://far:7470") == "tcp://far:7472");
  CHECK(reach(bound, "ipc:///run/service") == "ipc:///run/feed");
  CHECK(reach(bound, "inproc://x") == "ipc:///run/feed");
}

TEST_CASE("What is no endpoint breaks nothing") {
  CHECK(reach({}, "tcp://127.0.0.1:7470").empty());
  CHECK(reach({""}, "tcp://127.0.0.1:7470").empty());
  CHECK(reach({"tcp://"}, "tcp://127.0.0.1:7470") == "tcp://");
  CHECK(reach({"tcp://*"}, "tcp://") == "tcp://:");
  CHECK(reach({"nonsense"}, "nonsense") == "nonsense");
}

}  // namespace
}  // namespace phsic::test
