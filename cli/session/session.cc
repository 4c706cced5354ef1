#include "cli/session/session.h"

#include "cli/session/local_session.h"

namespace phsic {

std::unique_ptr<Session> Session::open(const StreamSpec& spec, const EncoderPath& path,
                                       std::size_t threads) {
  return std::make_unique<LocalSession>(Stream::open(spec, path), threads);
}

}  // namespace phsic
