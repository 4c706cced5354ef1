// A ROUTER that sends every message back as it came: what a round trip costs at least.
#include <vector>
#include <zmq.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::router);
  socket.bind(argv[1]);
  while (true) {
    std::vector<zmq::message_t> frames;
    do {
      frames.emplace_back();
      if (!socket.recv(frames.back())) return 1;
    } while (frames.back().more());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      if (!socket.send(frames[i], more)) return 1;
    }
  }
}
