// Whoever has brought a task to a lane, and is told what came of it: a client that waits for an
// answer, or a source of pairs.
#pragma once

#include <memory>
#include <string>

namespace phsic {

struct Task;

class Caller {
 public:
  Caller() = default;
  virtual ~Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  Caller(Caller&&) = delete;
  Caller& operator=(Caller&&) = delete;

  // Tasks of one name are served in their order, and share with those of other names.
  [[nodiscard]] virtual const std::string& name() const = 0;
  // A source brings pairs whose scores nobody waits for. When a lane is full the source is not
  // refused, but waits for has_room().
  [[nodiscard]] virtual bool is_source() const = 0;

  // Encodes the scores: all pairs of the task are scored and decided about, and what is told later
  // is short. Called once at most, before done(), in the thread that ended this work: a worker or
  // the answer stage, or the loop's thread where it scores vectors itself. May throw a
  // std::bad_alloc; done() is then called with an error.
  virtual void prepare(Task& task) = 0;
  // Nothing more becomes of the task: it is answered, or what it brought is learned. Called once,
  // from any thread, which it must not hold up.
  virtual void done(std::shared_ptr<Task> task) = 0;
  // There may be room again after a lane had none for this source. From any thread, which it must
  // not hold up.
  virtual void has_room() = 0;
};

}  // namespace phsic
