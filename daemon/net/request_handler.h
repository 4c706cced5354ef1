// Who serves requests and takes pairs in, whatever transport they came by. For the loop's thread.
#pragma once

#include <memory>

#include "daemon/serving/task.h"

namespace phsic {

class RequestHandler {
 public:
  RequestHandler() = default;
  virtual ~RequestHandler() = default;
  RequestHandler(const RequestHandler&) = delete;
  RequestHandler& operator=(const RequestHandler&) = delete;
  RequestHandler(RequestHandler&&) = delete;
  RequestHandler& operator=(RequestHandler&&) = delete;

  // Takes a request over; its caller is told when it is done, perhaps at once. Throws a
  // RequestError that says why it cannot be served.
  virtual void serve(const std::shared_ptr<Task>& task) = 0;
  // Takes in what a source has brought. False: there is no room, and the source is told when there
  // may be. Throws a RequestError if it can never be taken in.
  [[nodiscard]] virtual bool take_in(const std::shared_ptr<Task>& task) = 0;
  // Takes a task in even if there is no room: a source that ends would lose what it has read.
  virtual void take_in_at_last(const std::shared_ptr<Task>& task) = 0;
};

}  // namespace phsic
