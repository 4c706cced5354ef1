#include "state/stream_copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/model_cycle.h"
#include "state/recovery.h"

namespace phsic {
namespace {

// Of two windows the newest ids of each, in turn: there is no telling which of two is newer.
void join(SeenIds& ids, const SeenIds& others) {
  const auto ours = ids.ids();
  const auto theirs = others.ids();
  const auto longest = std::max(ours.size(), theirs.size());
  SeenIds joined(SeenIds::kMaxCapacity);
  for (std::size_t age = longest; age > 0; --age) {
    if (age <= ours.size()) joined.add(ours[ours.size() - age]);
    if (age <= theirs.size()) joined.add(theirs[theirs.size() - age]);
  }
  ids = std::move(joined);
}

void require_same_identity(const StreamCopy& copy, const StreamCopy& other) {
  auto differences = identity_differences(identity_text(other.stream->identity()),
                                          identity_text(copy.stream->identity()));
  // Of several views each has a line.
  std::erase_if(differences, [](const auto& line) {
    return line.starts_with("seed: ") ||
           (line.starts_with("view ") && line.find(", seed: ") != std::string::npos);
  });
  if (differences.empty()) return;
  throw Error(fmt::format("streams cannot be merged:\n  {}\nexpected the same of all but the seed",
                          fmt::join(differences, "\n  ")));
}

}  // namespace

void require_names(const std::vector<EncoderSpec>& encoders, const std::string& origin) {
  for (const auto& encoder : encoders) {
    if (encoder.name.find('/') == std::string::npos) continue;
    throw Error(fmt::format(
        "{}: found the encoder {}, expected a name: a path in a file from elsewhere may load "
        "anything. Say --trust to load it.",
        origin, encoder.name));
  }
}

StreamRecord find_stream(const StateFile& file, const std::string& name) {
  const auto all = file.streams();
  if (name.empty() && all.size() == 1) return all.front();
  std::vector<std::string_view> names;
  for (const auto& record : all) {
    if (record.name == name) return record;
    names.push_back(record.name);
  }
  if (all.empty()) throw Error(fmt::format("{}: found no stream, expected one", file.file()));
  throw Error(fmt::format(
      "{}: found {}, expected one of {} (--stream NAME)", file.file(),
      name.empty() ? fmt::format("{} streams", all.size()) : fmt::format("no stream {}", name),
      fmt::join(names, ", ")));
}

StreamCopy take_out(const StateFile& file, const StreamRecord& record, const EncoderPath& path,
                    Trust trust, const StateMarks& marks, const DecisionsOf& decisions_of) {
  StreamCopy copy;
  copy.name = record.name;
  copy.options = parse_options(record.options);
  const auto spec = spec_of(copy.options);
  if (trust == Trust::kNamesOnly) require_names(spec.encoders(), file.file());
  copy.stream = Stream::open(spec, path);
  const auto decisions = decisions_of ? decisions_of(copy.options) : nullptr;
  auto recovery = recover(file, record.name, *copy.stream, id_window_of(copy.options), marks, {},
                          decisions.get());
  copy.serving = std::move(recovery.serving);
  copy.from_snapshot = recovery.from_snapshot;
  copy.replayed = recovery.replayed;
  copy.lost = recovery.lost;
  copy.remarks = std::move(recovery.damage);
  if (recovery.pending == nullptr) return copy;
  ModelCycle cycle(*copy.stream, nullptr, std::move(recovery.pending));
  if (const auto problem = cycle.complete()) {
    copy.remarks.push_back(fmt::format("stream {}: the model that was begun could not be built: {}",
                                       record.name, problem->what()));
  } else if (decisions != nullptr) {
    decisions->adopted();
    decisions->save(copy.serving.parts);
  }
  return copy;
}

StreamCopy unpack(const PortableStream& portable, const std::string& origin,
                  const EncoderPath& path, Trust trust) {
  StreamCopy copy;
  try {
    copy.name = portable.name;
    copy.options = engine_options(parse_options(portable.options));
    const auto spec = spec_of(copy.options);
    if (trust == Trust::kNamesOnly) require_names(spec.encoders(), origin);
    copy.stream = Stream::open(spec, path);
    const auto differences =
        identity_differences(portable.identity, identity_text(copy.stream->identity()));
    if (!differences.empty()) {
      throw Error(
          fmt::format("its stream was learned with something else than there is here:\n  {}",
                      fmt::join(differences, "\n  ")));
    }
    copy.serving = ServingState(SeenIds::kMaxCapacity);
    static_cast<void>(open_snapshot(portable.snapshot, copy.serving, *copy.stream));
  } catch (const Error& problem) {
    const std::string what = problem.what();
    throw Error(what.starts_with(origin) ? what : fmt::format("{}: {}", origin, what));
  }
  copy.from_snapshot = copy.stream->pairs();
  return copy;
}

PortableStream pack(const StreamCopy& copy) {
  PortableStream portable;
  portable.name = copy.name;
  portable.identity = identity_text(copy.stream->identity());
  portable.options = options_json(engine_options(copy.options));
  portable.snapshot =
      seal_snapshot({0, 0, copy.stream->pairs()}, copy.serving, *copy.stream->state());
  return portable;
}

void put_in(StateFile& file, const StreamCopy& copy, const std::string& name) {
  require_stream_name(name);
  file.transact([&] {
    if (file.find(name)) {
      throw Error(fmt::format(
          "{}: found a stream {} in it already, expected none; --as NAME gives another name",
          file.file(), name));
    }
    const auto id =
        file.put_stream(name, identity_text(copy.stream->identity()), options_json(copy.options));
    const auto pairs = copy.stream->pairs();
    // The journal begins after it, with entry 1.
    const auto bytes = seal_snapshot({id, 0, pairs}, copy.serving, *copy.stream->state());
    file.put_snapshot(id, 0, pairs, bytes, {});
  });
}

void merge_in(StreamCopy& copy, const StreamCopy& other) {
  require_same_identity(copy, other);
  copy.stream->merge(*other.stream);
  for (const auto& [name, count] : other.serving.counters) {
    auto& sum = copy.serving.counters[name];
    sum += std::min(count, UINT64_MAX - sum);
  }
  join(copy.serving.ids, other.serving.ids);
  // No model has given scores of both.
  copy.serving.drift = DriftAlarm(copy.serving.drift.alpha());
  copy.serving.drift_model = 0;
}

void build_model(StreamLearner& stream) {
  ModelCycle(stream).refresh(PairExtent::kWithoutHeldBack);
}

}  // namespace phsic
