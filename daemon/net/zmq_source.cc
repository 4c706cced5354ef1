#include "daemon/net/zmq_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "daemon/log.h"
#include "daemon/mailbox.h"
#include "daemon/net/message_limit.h"
#include "engine/reason.h"
#include "wire/json_text.h"
#include "wire/via.h"

namespace phsic {

// The source as lanes know it. Lanes may outlive the source by a moment.
class ZmqSource::SourceCaller : public Caller {
 public:
  SourceCaller(boost::asio::io_context& loop, ZmqSource& source)
      : room_(loop,
              [this](Room&) {
                if (source_ != nullptr) source_->try_again();
              }),
        source_(&source) {}

  // No client has an empty name.
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool is_source() const override { return true; }
  void prepare(Task& /*task*/) override {}
  // ZeroMQ has no way to acknowledge a message.
  void done(std::shared_ptr<Task> /*task*/) override {}
  void has_room() override { room_.put(Room()); }

  // The source is no more. The loop's thread.
  void leave() { source_ = nullptr; }

 private:
  const std::string name_;
  struct Room {};
  Mailbox<Room> room_;
  ZmqSource* source_;  // the loop's
};

ZmqSource::ZmqSource(boost::asio::io_context& loop, std::unique_ptr<Socket> socket, Options options,
                     RequestHandler& handler)
    : socket_(std::move(socket)),
      options_(std::move(options)),
      handler_(handler),
      decoder_({options_.request_pairs}),
      caller_(std::make_shared<SourceCaller>(loop, *this)) {}

ZmqSource::~ZmqSource() { caller_->leave(); }

void ZmqSource::start() {
  socket_->read([this](Frames& frames) { take(frames); });
}

void ZmqSource::stop() {
  socket_->pause();
  if (parked_ != nullptr) handler_.take_in_at_last(parked_);
  parked_ = nullptr;
}

std::vector<std::string> ZmqSource::public_endpoints() const {
  if (!options_.stream.empty()) return {};
  return socket_->endpoints();
}

void ZmqSource::take(Frames& frames) {
  ++counts_.messages;
  try {
    Request request;
    request.arrival_time = time_now();
    if (read(frames, request)) {
      hand_over(std::make_shared<Task>(std::move(request), caller_));
    } else {
      ++counts_.passed_over;
    }
  } catch (const std::exception& problem) {
    ++counts_.bad;
    log(LogLevel::kWarning, "bad message",
        {{"peer", peer_of(frames)}, {"problem", reason(problem)}});
  }
}

// False: there is nothing to learn in it, because another daemon's feed has said it before, or says
// something else.
bool ZmqSource::read(Frames& frames, Request& request) {
  require_small(frames, options_.message_bytes);
  const bool skips_topic =
      options_.is_feed && frames.size() > 1 && !frames[0].to_string_view().starts_with('{');
  frame_views_.clear();
  for (std::size_t i = skips_topic ? 1 : 0; i < frames.size(); ++i) {
    frame_views_.push_back(frames[i].to_string_view());
  }
  const bool is_strict = !options_.is_feed;
  if (!decoder_.message(frame_views_, is_strict, request)) return false;
  const auto& via = request.via;
  if (!via.empty()) {
    if (std::find(via.begin(), via.end(), options_.own_name) != via.end()) return false;
    if (skips_topic && is_copy(frames[0].to_string_view(), options_.topic)) return false;
  }
  if (options_.stream.empty()) return true;
  if (is_strict && !request.stream.empty() && request.stream != options_.stream) {
    throw RequestError("unknown_stream", fmt::format("found stream {}, expected {}",
                                                     quoted_json(request.stream), options_.stream));
  }
  request.stream = options_.stream;
  return true;
}

void ZmqSource::try_again() {
  if (parked_ == nullptr) return;
  try {
    hand_over(std::exchange(parked_, nullptr));
  } catch (const std::exception& problem) {
    ++counts_.bad;
    log(LogLevel::kWarning, "bad message", {{"peer", ""}, {"problem", reason(problem)}});
    socket_->resume();
  }
}

void ZmqSource::hand_over(std::shared_ptr<Task> task) {
  if (handler_.take_in(task)) {
    if (socket_->is_paused()) socket_->resume();
    return;
  }
  if (!socket_->is_paused()) ++counts_.stalled;
  parked_ = std::move(task);
  socket_->pause();
}

}  // namespace phsic
