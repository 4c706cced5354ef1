// A stream of pairs. Scoring, learning and storage each need only a part of it:
//
//   stream_scorer     any thread      encode -> score, rank, explain
//   stream_learner    one thread      learn -> freeze -> adopt
//   stream_storage    the same one    what was learned, to keep and to go on with
#pragma once

#include <memory>

#include "engine/encoder_library.h"
#include "engine/stream_learner.h"
#include "engine/stream_scorer.h"
#include "engine/stream_spec.h"
#include "engine/stream_storage.h"

namespace phsic {

class Stream : public StreamScorer, public StreamLearner, public StreamStorage {
 public:
  using Extent = PairExtent;

  // Opens the encoders. Throws an Error that says what is wrong with the specification.
  [[nodiscard]] static std::unique_ptr<Stream> open(const StreamSpec& spec,
                                                    const EncoderPath& path);

  // Null unless the stream counts. Then pairs are learned through this alone, as they are scored.
  [[nodiscard]] virtual PairCounter* counter() { return nullptr; }
};

}  // namespace phsic
