#include "tests/fuzz/text_streams.h"

#include <string_view>
#include <utility>

#include "state/entry.h"
#include "state/portable.h"
#include "state/stream_copy.h"
#include "tests/fuzz/check_state.h"

namespace phsic::fuzz {
namespace {

// Learned in one batch, at these times.
EntryPairs some_pairs(std::size_t count) {
  EntryPairs pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = std::to_string(i % 7);
    pairs.add("x" + number, "y" + number + "z", 100 + static_cast<double>(i),
              i % 2 == 0 ? hash_id(number) : kNoId);
  }
  return pairs;
}

void learn(Stream& stream, const EntryPairs& pairs) {
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    x.push_back(pairs.x(i));
    y.push_back(pairs.y(i));
  }
  Batch batch;
  stream.encode({x, y, {}}, batch);
  stream.score(batch);
  auto items = items_to_learn(batch, 0, batch.size());
  items.times = pairs.times().data();
  items.x_texts = x.data();
  items.y_texts = y.data();
  stream.learn(items, 0, false);
}

std::string payload_of(const std::string& sealed, std::string_view kind) {
  const auto rest = unseal(kind, sealed).rest();
  return {rest.begin(), rest.end()};
}

}  // namespace

const std::vector<StoredOptions>& text_stream_options() {
  static const std::vector<StoredOptions> kOptions = {
      {{"kernel", "spectrum:n=2"},
       {"pivots", "3"},
       {"reservoir", "16"},
       {"held-back", "4"},
       {"rank", "2"}},
      {{"kernel", "spectrum:n=1"},
       {"pivots", "2"},
       {"window", "40"},
       {"reservoir", "16"},
       {"held-back", "4"},
       {"estimator", "phsic"}},
      {{"estimator", "pmi"}},
      {{"pivots", "3"},
       {"reservoir", "16"},
       {"held-back", "32"},
       {"rank", "2"},
       {"views", R"([{"name":"a","kernel":"spectrum:n=1"},{"name":"b","kernel":"spectrum:n=2"}])"}},
      {{"kernel", "spectrum:n=2"},
       {"pivots", "3"},
       {"reservoir", "16"},
       {"held-back", "512"},
       {"rank", "2"},
       {"judge", "true"}},
  };
  return kOptions;
}

std::unique_ptr<Stream> open_text_stream(std::size_t kind) {
  const auto& all = text_stream_options();
  return Stream::open(spec_of(all[kind % all.size()]), EncoderPath());
}

void use(Stream& stream) {
  learn(stream, some_pairs(20));
  if (const auto refresh = stream.freeze(Stream::Extent::kWithoutHeldBack)) {
    refresh->build();
    static_cast<void>(refresh->adoption());
    stream.adopt(*refresh);
  }
  learn(stream, some_pairs(3));
  static_cast<void>(stream.explain("x1", "y1z", {.top = 3}));
}

std::string state_of(const Stream& stream) {
  Writer writer;
  stream.state()->save(writer);
  return writer.bytes();
}

std::vector<std::pair<std::string, std::string>> state_seeds() {
  std::vector<std::pair<std::string, std::string>> seeds;
  const auto add = [&](const char* target, std::size_t kind, const std::string& payload) {
    seeds.emplace_back(target, std::string(1, static_cast<char>(kind)) + payload);
  };
  for (std::size_t kind = 0; kind < text_stream_options().size(); ++kind) {
    StreamCopy copy;
    copy.name = "chat";
    copy.options = text_stream_options()[kind];
    copy.stream = open_text_stream(kind);
    copy.serving = ServingState(10);
    // A judge takes 64 held-back pairs, a fifth of all.
    const bool judges = copy.options.back().first == "judge";
    learn(*copy.stream, some_pairs(judges ? 330 : 12));
    copy.serving.counters["scored"] = 12;
    copy.serving.ids.add(hash_id("a"));
    Entry entry;
    entry.place = {1, 1, 0};
    entry.pairs = some_pairs(3);
    add("entry_fuzz", kind, payload_of(serialise(entry), Entry::kArchiveKind));
    if (const auto refresh = copy.stream->freeze(Stream::Extent::kAll)) {
      refresh->build();
      entry = Entry();
      entry.kind = EntryKind::kAdopt;
      entry.adoption = refresh->adoption();
      add("entry_fuzz", kind, payload_of(serialise(entry), Entry::kArchiveKind));
      copy.stream->adopt(*refresh);
    }
    require(!judges || copy.stream->published()->judge != nullptr, "the seed has a judge");
    const auto portable = pack(copy);
    add("snapshot_fuzz", kind, payload_of(portable.snapshot, "SNAP"));
    seeds.emplace_back("portable_fuzz",
                       payload_of(serialise(portable), PortableStream::kArchiveKind));
  }
  for (const auto other : {EntryKind::kFreeze, EntryKind::kAbandon, EntryKind::kEvery}) {
    Entry entry;
    entry.kind = other;
    add("entry_fuzz", 0, payload_of(serialise(entry), Entry::kArchiveKind));
  }
  Entry vectors;
  vectors.kind = EntryKind::kVectors;
  vectors.pairs.add(std::vector<float>{1, 2}, std::vector<float>{3}, 4, kNoId);
  add("entry_fuzz", 0, payload_of(serialise(vectors), Entry::kArchiveKind));
  return seeds;
}

}  // namespace phsic::fuzz
