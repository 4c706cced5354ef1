// A model file: a stream as `learn` and `save` leave it, with what deciding about its pairs needs.
//
// It is a portable stream (state/portable.h), so that `state import` takes it too. Three parts of
// its snapshot are about decisions: "decide" (DecisionMemory), "decide-options" (JSON of option
// texts) and "learned-pairs" (LearnedPairs). A portable stream without them is a model that decides
// by default.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cli/session/local_session.h"
#include "decide/decide_spec.h"
#include "decide/learned_pairs.h"
#include "engine/encoder_library.h"
#include "state/stored_options.h"
#include "state/stream_copy.h"

namespace phsic {

struct SavedModel {
  StreamCopy copy;
  StoredOptions decide_options;
  LearnedPairs learned;
};

// Throws an Error that names the file and what is wrong with it.
[[nodiscard]] SavedModel read_model(const std::string& file, const EncoderPath& path, Trust trust);
// As a whole or not at all, in place of what was there. Gives the number of bytes. The same stream
// and decisions give the same bytes.
std::size_t write_model(const std::string& file, SavedModel& model);

// What `later` says counts instead; one cut instead of any other.
void override_decisions(StoredOptions& options, const StoredOptions& later);

// A session with the model, which decides by `decide` from now on. If the cut is another than the
// file's it is chosen from the file's calibration. Takes the stream out of the copy.
[[nodiscard]] std::unique_ptr<LocalSession> open_session(SavedModel& model,
                                                         const DecideSpec& decide,
                                                         std::size_t threads);

}  // namespace phsic
