// When a stream's models are due: after so many pairs, or when a third more has been learned. A
// value.
#pragma once

#include <cstdint>

#include "core/archive.h"

namespace phsic {

class RefreshSchedule {
 public:
  // A model after every `pairs`; 0: by growth.
  explicit RefreshSchedule(std::uint64_t pairs);

  // How many pairs are missing until a model is due; 0: it is.
  [[nodiscard]] std::uint64_t until(std::uint64_t learned) const;
  // The next model is due from now on. A stream that forgets counts for `effective` pairs.
  void move_on(std::uint64_t learned, double effective, bool forgets);
  // The next model is due at once.
  void hurry(std::uint64_t learned) { next_ = learned; }
  // False: it was so already. move_on() is to follow.
  bool set(std::uint64_t pairs);

  void save(Writer& writer) const;
  [[nodiscard]] static RefreshSchedule load(Reader& reader);

 private:
  std::uint64_t pairs_;
  std::uint64_t next_;  // due when so many pairs have been learned
};

}  // namespace phsic
