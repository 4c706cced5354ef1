#include "cli/session/session.h"

#include "cli/session/local_session.h"

namespace phsic {

std::unique_ptr<Session> Session::open(const StreamSpec& spec, const DecideSpec& decide,
                                       const EncoderPath& path, std::size_t threads) {
  const auto plan = plan_of(decide, spec);
  return std::make_unique<LocalSession>(Stream::open(spec, path), DecisionMemory(plan), threads);
}

}  // namespace phsic
