// Requests to whoever serves them: the daemon itself, or the lane of a stream.
//
// Belongs to the loop's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/net/request_handler.h"
#include "daemon/registry.h"

namespace phsic {

class Dispatcher : public RequestHandler {
 public:
  // How a daemon answers what is asked of it and not of a stream: into the outcome.
  using Answer = std::function<void(const Request&, Outcome&)>;

  Dispatcher(Registry& registry, Answer answer) : registry_(registry), answer_(std::move(answer)) {}

  // Serves requests from now on. All but pings have waited, as many as there was room for.
  void begin_serving();
  // From now on lanes get no more requests.
  void stop_serving();

  void serve(const std::shared_ptr<Task>& task) override;
  [[nodiscard]] bool take_in(const std::shared_ptr<Task>& task) override;
  void take_in_at_last(const std::shared_ptr<Task>& task) override;

  // A request was answered: counts it in the latency of its stream, if one has served it.
  void note_answer(const Task& task);

 private:
  enum class Phase : unsigned char { kStarting, kServing, kEnding };

  void serve_now(const std::shared_ptr<Task>& task);
  void hand_over(const std::shared_ptr<Task>& task);
  void keep_early(const std::shared_ptr<Task>& task);
  static void refuse(const std::shared_ptr<Task>& task, const RequestError& error);

  Registry& registry_;
  const Answer answer_;
  Phase phase_ = Phase::kStarting;
  std::vector<std::shared_ptr<Task>> early_;
  std::size_t early_bytes_ = 0;
};

}  // namespace phsic
