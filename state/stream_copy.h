// A stream taken out of where it was kept, to be put somewhere else, or together with another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/encoder_library.h"
#include "engine/stream.h"
#include "state/portable.h"
#include "state/snapshot.h"
#include "state/state_file.h"
#include "state/state_lock.h"
#include "state/stored_options.h"

namespace phsic {

struct StreamCopy {
  std::string name;
  StoredOptions options;
  std::unique_ptr<Stream> stream;
  ServingState serving{0};
  std::uint64_t from_snapshot = 0;   // pairs
  std::uint64_t replayed = 0;        // pairs
  std::uint64_t lost = 0;            // pairs that could not be read
  std::vector<std::string> remarks;  // damage, and a model that could not be built
};

// Which stream of the file; an empty name: its only one. Throws an Error that lists them.
[[nodiscard]] StreamRecord find_stream(const StateFile& file, const std::string& name);

// May what a file says have any shared library loaded?
enum class Trust { kNamesOnly, kPathsToo };
// Throws an Error if an encoder is named by a path. `origin` is the file that names it.
void require_names(const std::vector<EncoderSpec>& encoders, const std::string& origin);

// Recovers a stream: encoders as its stored options say, snapshot, journal, and the model that was
// on its way. Without `decisions_of` the parts of the snapshot stay as they are. Throws an Error.
[[nodiscard]] StreamCopy take_out(const StateFile& file, const StreamRecord& record,
                                  const EncoderPath& path, Trust trust,
                                  const StateMarks& marks = {},
                                  const DecisionsOf& decisions_of = {});

// `origin` names the file in messages. Throws an Error, too, if encoders are not here what they
// were there.
[[nodiscard]] StreamCopy unpack(const PortableStream& portable, const std::string& origin,
                                const EncoderPath& path, Trust trust);
[[nodiscard]] PortableStream pack(const StreamCopy& copy);

// Into a state file, as a stream of that name, with one snapshot. Throws an Error if it is there
// already.
void put_in(StateFile& file, const StreamCopy& copy, const std::string& name);

// Adds what `other` has learned from other pairs; the model and the parts stay. Throws an Error
// unless they agree in everything but the seed.
void merge_in(StreamCopy& copy, const StreamCopy& other);
// A new model of all but the newest pairs, if the stream has models.
void build_model(StreamLearner& stream);

}  // namespace phsic
