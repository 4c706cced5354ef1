// Pairs over ZeroMQ: a PULL socket that others push to, or a SUB socket on another's feed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/net/request_handler.h"
#include "daemon/net/socket.h"
#include "daemon/net/source.h"
#include "wire/decode.h"

namespace phsic {

class ZmqSource : public Source {
 public:
  struct Options {
    std::string stream;    // of all its pairs; empty: as each message says
    bool is_feed = false;  // of another publisher: a topic comes first, members may be unknown
    std::string topic;     // the prefix that was subscribed to
    std::string own_name;  // of this daemon on feeds: what came through it is passed over
    std::uint64_t message_bytes = 0;  // of one frame
    std::size_t request_pairs = 0;
  };

  ZmqSource(boost::asio::io_context& loop, std::unique_ptr<Socket> socket, Options options,
            RequestHandler& handler);
  ~ZmqSource() override;
  ZmqSource(const ZmqSource&) = delete;
  ZmqSource& operator=(const ZmqSource&) = delete;
  ZmqSource(ZmqSource&&) = delete;
  ZmqSource& operator=(ZmqSource&&) = delete;

  void start() override;
  void stop() override;
  void close() override { socket_->close(0); }
  [[nodiscard]] std::vector<std::string> public_endpoints() const override;

 private:
  class SourceCaller;

  void take(Frames& frames);
  [[nodiscard]] bool read(Frames& frames, Request& request);
  void try_again();
  void hand_over(std::shared_ptr<Task> task);

  std::unique_ptr<Socket> socket_;
  const Options options_;
  RequestHandler& handler_;
  Decoder decoder_;
  std::vector<std::string_view> frame_views_;
  std::shared_ptr<Task> parked_;  // waits for room
  std::shared_ptr<SourceCaller> caller_;
};

}  // namespace phsic
