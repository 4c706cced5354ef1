#include "cli/session/saved_model.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "decide/memory_replay.h"
#include "state/whole_file.h"

namespace phsic {
namespace {

// The part of that name; null if there is none.
const std::string* find_part(const ServingState& serving, const char* name) {
  const auto found = serving.parts.find(name);
  return found == serving.parts.end() ? nullptr : &found->second;
}

}  // namespace

void override_decisions(StoredOptions& options, const StoredOptions& later) {
  for (const auto& option : later) {
    std::erase_if(options, [&](const auto& earlier) {
      return earlier.first == option.first ||
             (is_cut_option(earlier.first) && is_cut_option(option.first));
    });
  }
  options.insert(options.end(), later.begin(), later.end());
}

SavedModel read_model(const std::string& file, const EncoderPath& path, Trust trust) {
  SavedModel model;
  model.copy = unpack(read_portable(file), file, path, trust);
  const auto& serving = model.copy.serving;
  try {
    if (const auto* options = find_part(serving, kDecideOptionsPart)) {
      model.decide_options = parse_options(*options);
    }
    if (const auto* learned = find_part(serving, kLearnedPairsPart)) {
      model.learned = parse<LearnedPairs>(*learned);
    }
    // Whatever is wrong with it is told now, with the file's name.
    const auto plan = plan_of(decide_spec_of(model.decide_options), spec_of(model.copy.options));
    static_cast<void>(memory_of(serving.parts, plan));
  } catch (const Error& problem) {
    throw Error(fmt::format("{}: {}", file, problem.what()));
  }
  return model;
}

std::size_t write_model(const std::string& file, SavedModel& model) {
  auto& parts = model.copy.serving.parts;
  parts[kDecideOptionsPart] = options_json(model.decide_options);
  parts[kLearnedPairsPart] = serialise(model.learned);
  const auto bytes = serialise(pack(model.copy));
  write_whole_file(file, bytes);
  return bytes.size();
}

std::unique_ptr<LocalSession> open_session(SavedModel& model, const DecideSpec& decide,
                                           std::size_t threads) {
  const auto stream = spec_of(model.copy.options);
  const auto own = plan_of(decide_spec_of(model.decide_options), stream);
  const auto wanted = plan_of(decide, stream);
  auto memory = memory_of(model.copy.serving.parts, own);
  memory.set_plan(wanted);
  const auto& published = *model.copy.stream->published();
  // A stream that counts has no models, and a cut all the same.
  const bool has_model = published.number > 0 || model.copy.stream->counter() != nullptr;
  if (has_model && (!memory.has_cut() || wanted.cut != own.cut)) {
    static_cast<void>(memory.choose_cut(published.calibration()));
  }
  return std::make_unique<LocalSession>(std::move(model.copy.stream), std::move(memory), threads,
                                        model.learned);
}

}  // namespace phsic
