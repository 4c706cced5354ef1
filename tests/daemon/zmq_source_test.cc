#include "daemon/net/zmq_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace phsic::test {
namespace {

// Takes tasks in while there is room, and notes their first x.
class RoomHandler : public RequestHandler {
 public:
  void serve(const std::shared_ptr<Task>& /*task*/) override {}
  [[nodiscard]] bool take_in(const std::shared_ptr<Task>& task) override {
    caller = task->caller;
    if (when_taken) when_taken(*task);
    if (room == 0) {
      ++refusals;
      return false;
    }
    --room;
    taken.push_back(name_of(*task));
    return true;
  }
  void take_in_at_last(const std::shared_ptr<Task>& task) override {
    taken_at_last.push_back(name_of(*task));
  }

  std::size_t room = SIZE_MAX;
  std::size_t refusals = 0;
  std::vector<std::string> taken;
  std::vector<std::string> taken_at_last;
  std::function<void(const Task&)> when_taken;  // before anything else; may throw
  std::shared_ptr<Caller> caller;               // of the last task

 private:
  [[nodiscard]] static std::string name_of(const Task& task) {
    const auto& request = task.request;
    return fmt::format("{}{}{}", request.stream, request.stream.empty() ? "" : ":",
                       request.pairs.x.at(0));
  }
};

// A source, and somebody who pushes to it.
struct Pushing {
  explicit Pushing(ZmqSource::Options options = {},
                   const std::string& endpoint = "inproc://source") {
    options.message_bytes = 1000;
    options.request_pairs = 3;
    auto socket = std::make_unique<Socket>(loop, context, zmq::socket_type::pull);
    socket->bind(endpoint);
    source = std::make_unique<ZmqSource>(loop, std::move(socket), options, handler);
    source->start();
    sender.set(zmq::sockopt::linger, 0);
    sender.connect(endpoint);
  }

  boost::asio::io_context loop;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      loop.get_executor()};
  zmq::context_t context;
  RoomHandler handler;
  std::unique_ptr<ZmqSource> source;
  zmq::socket_t sender{context, zmq::socket_type::push};

  void send(std::string_view message) { sender.send(zmq::buffer(message)); }
  void send(std::string_view topic, std::string_view message) {
    sender.send(zmq::buffer(topic), zmq::send_flags::sndmore);
    sender.send(zmq::buffer(message));
  }
  void send_pair(std::string_view x) { send(fmt::format(R"({{"x":"{}","y":""}})", x)); }
  // The loop, until that is so.
  void run_until(const std::function<bool()>& is_so) {
    while (!is_so()) REQUIRE(loop.run_one_for(std::chrono::seconds(60)) > 0);
  }
  // All that the loop has to do now.
  void settle() {
    while (loop.poll() > 0) {
    }
  }
  void tell_of_room(std::size_t room) {
    handler.room = room;
    handler.caller->has_room();
  }
};

std::vector<std::string> numbers_up_to(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

TEST_CASE("A source reads no further than there is room, and all pairs come in, in order") {
  const std::string endpoint =
      GENERATE(std::string("inproc://source"), fmt::format("ipc://@phsic-source-{}", getpid()));
  constexpr std::size_t kMessages = 200;
  Pushing scene({}, endpoint);
  auto& handler = scene.handler;
  handler.room = 3;
  for (const auto& number : numbers_up_to(kMessages)) scene.send_pair(number);
  scene.run_until([&] { return handler.refusals == 1; });
  const auto& counts = scene.source->counts();
  CHECK(handler.taken == numbers_up_to(3));
  CHECK(counts.messages == 4);
  scene.settle();
  CHECK(counts.messages == 4);
  CHECK(counts.stalled == 1);

  // There was room, and is no more: it has waited once, and goes on waiting.
  scene.tell_of_room(0);
  scene.run_until([&] { return handler.refusals == 2; });
  scene.settle();
  CHECK(counts.messages == 4);
  CHECK(counts.stalled == 1);

  for (std::size_t taken = 3; taken + 50 < kMessages;) {
    const auto before = handler.refusals;
    scene.tell_of_room(50);
    scene.run_until([&] { return handler.refusals > before; });
    taken += 50;
    CHECK(handler.taken == numbers_up_to(taken));
    CHECK(counts.messages == taken + 1);
  }
  CHECK(counts.stalled == 4);
  scene.tell_of_room(SIZE_MAX);
  scene.run_until([&] { return handler.taken.size() == kMessages; });
  CHECK(handler.taken == numbers_up_to(kMessages));
  CHECK(counts.bad == 0);
}

TEST_CASE("A source that waits for nothing takes no harm from being told of room") {
  Pushing scene;
  scene.send_pair("a");
  scene.run_until([&] { return scene.handler.taken.size() == 1; });
  for (int i = 0; i < 3; ++i) scene.tell_of_room(SIZE_MAX);
  scene.send_pair("b");
  scene.run_until([&] { return scene.handler.taken.size() == 2; });
  scene.settle();
  CHECK(scene.handler.taken == std::vector<std::string>{"a", "b"});
}

TEST_CASE("A source that stops hands over what it has read, room or not, and reads no more") {
  Pushing scene;
  auto& handler = scene.handler;
  handler.room = 0;
  for (const auto& number : numbers_up_to(5)) scene.send_pair(number);
  scene.run_until([&] { return handler.refusals == 1; });
  scene.source->stop();
  CHECK(handler.taken_at_last == numbers_up_to(1));
  scene.tell_of_room(SIZE_MAX);
  scene.settle();
  CHECK(handler.taken.empty());
  CHECK(scene.source->counts().messages == 1);
  scene.source->stop();
  CHECK(handler.taken_at_last.size() == 1);
}

TEST_CASE("A source that waits for no room has nothing to hand over when it stops") {
  Pushing scene;
  scene.send_pair("a");
  scene.run_until([&] { return scene.handler.taken.size() == 1; });
  scene.source->stop();
  scene.send_pair("b");
  scene.settle();
  CHECK(scene.handler.taken == std::vector<std::string>{"a"});
  CHECK(scene.handler.taken_at_last.empty());
  scene.source->close();
  scene.settle();
}

TEST_CASE("Messages that are bad are counted, and the others taken") {
  Pushing scene;
  scene.handler.when_taken = [](const Task& task) {
    if (task.request.stream == "none") throw RequestError("unknown_stream", "there is none");
  };
  const std::vector<std::string> bad = {
      "",
      "{",
      "[]",
      R"({"x":"a"})",
      R"({"x":"a","y":"","z":""})",
      R"({"stream":"none","x":"a","y":""})",
      R"({"pairs":[["",""],["",""],["",""],["",""]]})",
      fmt::format(R"({{"x":"{}","y":""}})", std::string(1000, 'a')),
  };
  std::vector<std::string> good;
  for (const auto& message : bad) {
    scene.send(message);
    good.push_back(std::to_string(good.size()));
    scene.send_pair(good.back());
  }
  const auto& counts = scene.source->counts();
  scene.run_until([&] { return counts.messages == 2 * bad.size(); });
  CHECK(scene.handler.taken == good);
  CHECK(counts.bad == bad.size());
  CHECK(counts.passed_over == 0);
  CHECK(counts.stalled == 0);
}

TEST_CASE("A message that turns out to be bad after it has waited holds nobody up") {
  Pushing scene;
  scene.handler.room = 0;
  scene.send_pair("a");
  scene.send_pair("b");
  scene.run_until([&] { return scene.handler.refusals == 1; });
  scene.handler.when_taken = [](const Task& task) {
    if (task.request.pairs.x.at(0) == "a") throw RequestError("unknown_stream", "there is none");
  };
  scene.tell_of_room(SIZE_MAX);
  scene.run_until([&] { return scene.handler.taken.size() == 1; });
  CHECK(scene.handler.taken == std::vector<std::string>{"b"});
  CHECK(scene.source->counts().bad == 1);
}

TEST_CASE("A source of one stream brings its pairs to that, and refuses those of others") {
  ZmqSource::Options options;
  options.stream = "chat";
  Pushing scene(options);
  CHECK(scene.source->public_endpoints().empty());
  scene.send_pair("a");
  scene.send(R"({"stream":"mail","x":"b","y":""})");
  scene.send(R"({"stream":"chat","x":"c","y":""})");
  scene.run_until([&] { return scene.source->counts().messages == 3; });
  CHECK(scene.handler.taken == std::vector<std::string>{"chat:a", "chat:c"});
  CHECK(scene.source->counts().bad == 1);
}

TEST_CASE("A source of any stream can be found, and its pairs go where they say") {
  Pushing scene;
  CHECK(scene.source->public_endpoints() == std::vector<std::string>{"inproc://source"});
  scene.send(R"({"stream":"mail","x":"b","y":""})");
  scene.run_until([&] { return scene.source->counts().messages == 1; });
  CHECK(scene.handler.taken == std::vector<std::string>{"mail:b"});
}

TEST_CASE("Of another daemon's feed every pair is taken once") {
  ZmqSource::Options options;
  options.stream = "chat";
  options.is_feed = true;
  options.topic = "mail/";
  options.own_name = "me";
  Pushing scene(options);
  scene.send("mail/score", R"({"seq":1,"via":["you"],"score":1,"x":"a","y":""})");
  scene.send("mail/flag", R"({"seq":1,"via":["you"],"score":1,"x":"a","y":""})");
  scene.send("mail/event", R"({"seq":1,"event":"failure","message":"b"})");
  scene.send("mail/score", R"({"seq":2,"via":["me","you"],"score":1,"x":"c","y":""})");
  scene.send(R"({"stream":"mail","x":"d","y":""})");
  scene.run_until([&] { return scene.source->counts().messages == 5; });
  CHECK(scene.handler.taken == std::vector<std::string>{"chat:a", "chat:d"});
  CHECK(scene.source->counts().passed_over == 3);
  CHECK(scene.source->counts().bad == 0);
}

TEST_CASE("A lane may tell a source of room that is no more") {
  Pushing scene;
  scene.handler.room = 0;
  scene.send_pair("a");
  scene.run_until([&] { return scene.handler.refusals == 1; });
  scene.source = nullptr;
  scene.tell_of_room(SIZE_MAX);
  scene.settle();
  CHECK(scene.handler.refusals == 1);
  CHECK(scene.handler.taken.empty());
}

}  // namespace
}  // namespace phsic::test
