#include "daemon/net/zmq_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "daemon/log.h"
#include "daemon/net/message_limit.h"
#include "engine/reason.h"
#include "wire/answer_writer.h"

namespace phsic {
namespace {

constexpr auto kFlush = std::chrono::milliseconds(2);

// Whether a request that is refused with this code would be refused whenever it came. All other
// codes tell of the daemon.
bool is_fault_of_request(std::string_view code) {
  constexpr std::array<std::string_view, 5> kCodes = {"bad_request", "unknown_op", "unknown_stream",
                                                      "wrong_shape", "too_large"};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

}  // namespace

// Who has sent one request. Requests of one connection share its name.
class ZmqService::Client : public Caller {
 public:
  Client(ZmqService& service, std::string name, bool has_delimiter)
      : service_(service), name_(std::move(name)), has_delimiter_(has_delimiter) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool is_source() const override { return false; }
  void prepare(Task& task) override { scores_ = scores_json(task.request, task.outcome); }
  void done(std::shared_ptr<Task> task) override {
    if (std::this_thread::get_id() == service_.loop_thread_) {
      service_.answer(*task);
    } else {
      service_.done_.put(std::move(task));
    }
  }
  void has_room() override {}

  void send(const Request& request, std::string answer) {
    const auto size = answer.size();
    auto& outbox = service_.outbox_;
    if (!outbox.send(name_, has_delimiter_, std::move(answer))) {
      // Silence would be worse. A client that does not read this either is not waiting for it.
      auto instead =
          error_answer(request.id, "failed",
                       fmt::format("the answer of {} bytes is lost because clients leave too much "
                                   "unread; what was to be learned has been learned",
                                   size));
      if (!outbox.send(name_, has_delimiter_, std::move(instead))) outbox.note_lost();
    }
    service_.flush_later();
  }
  [[nodiscard]] const std::string& scores() const { return scores_; }

 private:
  ZmqService& service_;
  const std::string name_;
  const bool has_delimiter_;  // the empty frame of a REQ socket
  std::string scores_;        // as JSON
};

ZmqService::ZmqService(boost::asio::io_context& loop, std::unique_ptr<Socket> socket, Limits limits,
                       RequestHandler& handler, std::function<void(const Task&)> told,
                       std::function<void()> flushed)
    : socket_(std::move(socket)),
      outbox_(*socket_),
      limits_(limits),
      handler_(handler),
      told_(std::move(told)),
      flushed_(std::move(flushed)),
      flusher_(loop),
      decoder_({limits.request_pairs}),
      done_(loop, [this](std::shared_ptr<Task>& task) { answer(*task); }) {}

ZmqService::~ZmqService() = default;

void ZmqService::start() {
  loop_thread_ = std::this_thread::get_id();
  socket_->read([this](Frames& frames) { take(frames); });
}

void ZmqService::take(Frames& frames) {
  ++requests_;
  // A REQ socket sends an empty frame first, and expects one.
  const bool has_delimiter = frames.size() > 1 && frames[1].empty();
  const auto client = std::make_shared<Client>(*this, frames.front().to_string(), has_delimiter);
  const auto task = std::make_shared<Task>(Request(), client);
  frame_views_.clear();
  for (std::size_t i = has_delimiter ? 2 : 1; i < frames.size(); ++i) {
    frame_views_.push_back(frames[i].to_string_view());
  }
  try {
    require_small(frames, limits_.message_bytes);
    task->request.arrival_time = time_now();
    decoder_.request(frame_views_, task->request);
    handler_.serve(task);
  } catch (...) {
    refuse(*task);
  }
}

// REQUIRES: an exception is being handled, which says why.
void ZmqService::refuse(const Task& task) {
  std::string answer;
  try {
    throw;
  } catch (const RequestError& problem) {
    if (is_fault_of_request(problem.code())) ++bad_requests_;
    answer = error_answer(task.request.id, problem.code(), problem.what());
  } catch (const std::exception& problem) {
    answer = error_answer(task.request.id, "failed", reason(problem));
  }
  static_cast<Client&>(*task.caller).send(task.request, std::move(answer));
}

void ZmqService::answer(const Task& task) {
  auto& client = static_cast<Client&>(*task.caller);
  // Found out only now: there was no stream yet, or an encoder had to look at it.
  if (task.outcome.error && is_fault_of_request(task.outcome.error->code())) ++bad_requests_;
  try {
    client.send(task.request, answer_json(task.request, task.outcome, client.scores()));
    told_(task);
  } catch (const std::bad_alloc&) {
    log(LogLevel::kError, "no memory for an answer", {{"stream", task.request.stream}});
  }
}

// ZeroMQ does not tell when a client of a ROUTER has room again.
void ZmqService::flush_later() {
  if (flushes_later_ || outbox_.is_empty()) return;
  flushes_later_ = true;
  flusher_.expires_after(kFlush);
  flusher_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    flushes_later_ = false;
    outbox_.flush();
    flush_later();
    flushed_();
  });
}

}  // namespace phsic
