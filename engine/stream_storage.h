// A stream as its storage sees it. For the learner's thread.
//
// What was learned is a function of what the learner did, in order: learn(), freeze(), adopt() and
// refresh_every(). A journal of these calls can be replayed (state/recovery.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/stream_config.h"

namespace phsic {

// A copy of all that a stream has learned, and of the model in use.
class StreamState {
 public:
  StreamState() = default;
  virtual ~StreamState() = default;
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
  StreamState(StreamState&&) = delete;
  StreamState& operator=(StreamState&&) = delete;

  // The long part. Any thread.
  virtual void save(Writer& writer) const = 0;
};

// Something that learned state depends on: "x kernel", "cosine".
struct StreamTrait {
  std::string name;
  std::string value;

  bool operator==(const StreamTrait&) const = default;
};

class StreamStorage {
 public:
  StreamStorage() = default;
  virtual ~StreamStorage() = default;
  StreamStorage(const StreamStorage&) = delete;
  StreamStorage& operator=(const StreamStorage&) = delete;
  StreamStorage(StreamStorage&&) = delete;
  StreamStorage& operator=(StreamStorage&&) = delete;

  // Everything that learned state depends on. A stream can only go on with state of the same
  // identity.
  [[nodiscard]] virtual std::vector<StreamTrait> identity() const = 0;
  // REQUIRES: no refresh is on its way.
  [[nodiscard]] virtual std::unique_ptr<const StreamState> state() const = 0;
  // Goes on from a saved state. Throws an Error, and nothing changes, unless it is the state of
  // such a stream.
  virtual void restore(Reader& reader) = 0;
  // Repeats a freeze() whose model nobody needs any more.
  virtual void freeze_again(PairExtent extent) = 0;
  // Repeats the adoption of that model: everything, its pivots included, but the model itself.
  // Throws an Error unless `adoption` came from Refresh::adoption().
  virtual void adopt_again(std::string_view adoption) = 0;
  // Adds what another stream of the same identity, but for the seed, has learned of other pairs.
  // The model in use stays. Throws an Error if it cannot be done.
  virtual void merge(const StreamStorage& other) = 0;
};

}  // namespace phsic
