// Streams on their way from file to file, and several that become one.
#include "state/stream_copy.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "state/rebuild.h"
#include "state/recovery.h"
#include "state/survey.h"
#include "state/verify.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

using Access = Database::Access;

StoredOptions small(const StoredOptions& more = {}) {
  StoredOptions options = {
      {"encoder", "hashing:dim=16"}, {"reservoir", "2000"}, {"held-back", "32"}, {"rank", "4"}};
  override_options(options, more);
  return options;
}

// As a stream is taken out of a state file.
StreamCopy copy_of(const Recorder& recorder) {
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  recorder.write(file, 0, true);
  return take_out(file, find_stream(file, ""), EncoderPath(), Trust::kNamesOnly);
}

void learn_with_models(Recorder& recorder, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    recorder.learn(150);
    recorder.freeze(Stream::Extent::kWithoutHeldBack);
    if (recorder.is_building()) recorder.adopt();
  }
}

std::vector<StoredOptions> kinds() {
  return {small(),
          small({{"kernel", "gaussian:sigma=median"}, {"pivots", "8"}}),
          small({{"half-life", "200"}}),
          small({{"window", "400"}}),
          small({{"kernel", "spectrum:n=3"}, {"pivots", "6"}}),
          {{"estimator", "pmi"}}};
}

TEST_CASE("A stream goes through a portable file and into another state file unchanged") {
  for (const auto& options : kinds()) {
    Recorder recorder(options, 3);
    learn_with_models(recorder, 4);
    auto copy = copy_of(recorder);
    copy.serving.counters["scored"] = 12;
    REQUIRE((state_of(*copy.stream) == state_of(recorder.stream())));
    const auto bytes = serialise(pack(copy));
    const auto again =
        unpack(parse<PortableStream>(bytes), "file", EncoderPath(), Trust::kNamesOnly);
    CHECK(again.name == "chat");
    CHECK((state_of(*again.stream) == state_of(recorder.stream())));
    CHECK((serialise(pack(again)) == bytes));

    const StateFolder folder;
    StateFile file(folder.path("state.db"), Access::kCreate);
    file.put_stream("first", "", "{}");
    put_in(file, again, "second");
    CHECK_THROWS_WITH(put_in(file, again, "second"), Catch::Contains("--as NAME"));
    CHECK_THROWS_AS(put_in(file, again, "no name"), Error);
    const auto stream = open_stream(options);
    auto recovery = recover(file, "second", *stream, Recorder::kIdWindow);
    CHECK(recovery.damage.empty());
    CHECK(recovery.last == EntryPlace{2, 0, recorder.pairs()});
    CHECK(recovery.serving.counters.at("scored") == 12);
    CHECK(recovery.serving.ids.ids() == recorder.serving().ids.ids());
    CHECK((state_of(*stream) == state_of(recorder.stream())));
    CHECK_FALSE(is_journal_whole(file, 2));
  }
}

TEST_CASE("The journal of a stream that was put in goes on from there") {
  Recorder recorder(small(), 3);
  learn_with_models(recorder, 2);
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  put_in(file, copy_of(recorder), "chat");
  EntryPairs pairs;
  pairs.add("one", "two", 2e9, kNoId);
  file.append(1, 1, 1, seal_pairs({1, 1, recorder.pairs()}, pairs));
  const auto stream = open_stream(small());
  const auto recovery = recover(file, "chat", *stream, 10);
  CHECK(recovery.damage.empty());
  CHECK(stream->pairs() == recorder.pairs() + 1);
  CHECK_FALSE(is_journal_whole(file, 1));
  // Without the snapshot, the journal after it is not taken for everything.
  file.transact([&] { file.put_snapshot(1, 0, recorder.pairs(), std::string("?"), {1, true}); });
  const auto other = open_stream(small());
  CHECK_THROWS_WITH(recover(file, "chat", *other, 10), Catch::Contains("nothing of stream chat"));
}

// The largest difference of scores, as a share of the largest score.
double distance(const std::vector<double>& found, const std::vector<double>& expected) {
  double most = 0;
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  REQUIRE(largest > 0);
  return most / largest;
}

// A stream that has learned what a recorder with this seed makes of the steps, and one after it.
void model_of_all(Stream& stream) {
  const auto refresh = stream.freeze(Stream::Extent::kAll);
  if (refresh == nullptr) return;
  refresh->build();
  stream.adopt(*refresh);
}

TEST_CASE("Streams that learned apart score as one that learned everything") {
  for (const auto& more : {StoredOptions{{"estimator", "phsic"}},
                           {{"estimator", "whitened"}, {"ridge", "1"}},
                           {{"estimator", "gaussian-pmi"}, {"ridge", "1"}},
                           {{"estimator", "phsic"}, {"kernel", "linear"}}}) {
    for (const bool same_seed : {false, true}) {
      Recorder a(small(more), 1);
      auto others = small(more);
      if (!same_seed) override_options(others, {{"seed", "5"}});
      Recorder b(others, 2);
      learn_with_models(a, 3);
      learn_with_models(b, 5);
      // One that learned a, then b.
      const auto one = open_stream(small(more));
      for (const auto* part : {&a, &b}) {
        ServingState serving(0);
        Replay replay(*one, serving, UINT64_MAX, 0);
        for (const auto& recorded : part->journal()) {
          const auto entry = parse<Entry>(recorded.bytes);
          if (entry.pairs.size() > 0) replay.apply(entry);
        }
      }
      auto merged = copy_of(a);
      merge_in(merged, copy_of(b));
      CHECK(merged.stream->pairs() == a.pairs() + b.pairs());
      CHECK(merged.stream->pairs() == one->pairs());
      model_of_all(*merged.stream);
      model_of_all(*one);
      CHECK(distance(scores_of(*merged.stream), scores_of(*one)) < 1e-4);
      // The control: neither part by itself gives these scores.
      const auto alone = copy_of(a);
      model_of_all(*alone.stream);
      CHECK(distance(scores_of(*alone.stream), scores_of(*one)) > 1e-2);
    }
  }
}

TEST_CASE("Counts that were made apart add up") {
  Recorder a({{"estimator", "pmi"}}, 1);
  Recorder b({{"estimator", "pmi"}}, 2);
  a.learn(300);
  b.learn(500);
  auto merged = copy_of(a);
  merge_in(merged, copy_of(b));
  build_model(*merged.stream);
  CHECK(merged.stream->pairs() == 800);
  const auto again =
      unpack(parse<PortableStream>(serialise(pack(merged))), "f", EncoderPath(), Trust::kNamesOnly);
  CHECK(again.stream->pairs() == 800);
}

TEST_CASE("Merging works under pivots and forgetting, and can be gone on from") {
  for (const auto& options : kinds()) {
    Recorder a(options, 1);
    Recorder b(options, 2);
    learn_with_models(a, 3);
    learn_with_models(b, 2);
    auto merged = copy_of(a);
    merge_in(merged, copy_of(b));
    build_model(*merged.stream);
    CHECK(merged.stream->pairs() == 750);
    for (const double score : scores_of(*merged.stream)) CHECK(std::isfinite(score));
    const auto bytes = serialise(pack(merged));
    const auto again =
        unpack(parse<PortableStream>(bytes), "file", EncoderPath(), Trust::kNamesOnly);
    CHECK((serialise(pack(again)) == bytes));
  }
}

TEST_CASE("Counters add up, ids are joined with the newest last, and the alarm begins anew") {
  Recorder a(small(), 1);
  Recorder b(small(), 2);
  learn_with_models(a, 2);
  learn_with_models(b, 2);
  auto first = copy_of(a);
  auto second = copy_of(b);
  const auto hash = [](int i) { return hash_id(std::to_string(i)); };
  first.serving = ServingState(100);
  second.serving = ServingState(100);
  first.serving.counters = {{"scored", 3}, {"flagged", 1}};
  second.serving.counters = {{"scored", 4}, {"ranked", UINT64_MAX}};
  first.serving.drift_model = 2;
  for (const int i : {1, 2, 3, 4}) first.serving.ids.add(hash(i));
  for (const int i : {4, 5}) second.serving.ids.add(hash(i));
  merge_in(first, second);
  CHECK(first.serving.counters == std::map<std::string, std::uint64_t>{
                                      {"flagged", 1}, {"ranked", UINT64_MAX}, {"scored", 7}});
  CHECK(first.serving.drift_model == 0);
  CHECK(first.serving.drift.looks() == 0);
  CHECK(first.serving.ids.ids() ==
        std::vector<IdHash>{hash(1), hash(2), hash(3), hash(4), hash(5)});
}

TEST_CASE("What differs in anything but the seed is not merged") {
  Recorder a(small(), 1);
  a.learn(300);
  for (const auto& other :
       {small({{"held-back", "64"}}), small({{"half-life", "500"}}), small({{"kernel", "linear"}}),
        small({{"encoder", "hashing:dim=32"}}), StoredOptions{{"estimator", "pmi"}}}) {
    Recorder b(other, 2);
    b.learn(300);
    auto copy = copy_of(a);
    CHECK_THROWS_WITH(merge_in(copy, copy_of(b)), Catch::Contains("found"));
    CHECK((state_of(*copy.stream) == state_of(a.stream())));
  }
}

TEST_CASE("Every flipped bit and every missing byte of a portable file is found") {
  Recorder recorder(small({{"reservoir", "16"}, {"held-back", "4"}}), 1);
  learn_with_models(recorder, 2);
  const auto bytes = serialise(pack(copy_of(recorder)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    REQUIRE_THROWS_AS(parse<PortableStream>(damaged), Error);
    REQUIRE_THROWS_AS(parse<PortableStream>(std::string_view(bytes).substr(0, i)), Error);
  }
}

TEST_CASE("A portable file that lies is refused") {
  Recorder recorder(small(), 1);
  recorder.learn(100);
  const auto honest = pack(copy_of(recorder));
  const auto open = [](const PortableStream& portable) {
    return unpack(parse<PortableStream>(serialise(portable)), "f", EncoderPath(),
                  Trust::kNamesOnly);
  };
  CHECK(open(honest).stream->pairs() == 100);
  auto other = honest;
  other.name = "../../etc";
  CHECK_THROWS_AS(open(other), Error);
  other = honest;
  other.identity = "x encoder: another\n";
  CHECK_THROWS_WITH(open(other), Catch::Contains("learned with something else"));
  for (const char* options :
       {"", "[]", R"({"rank": 3})", R"({"rank": "-1"})", R"({"encoder":"hashing:dim=32"})"}) {
    other = honest;
    other.options = options;
    CHECK_THROWS_AS(open(other), Error);
  }
  for (const char* options : {R"({"encoder":"./evil.so"})", R"({"x-encoder":"./evil.so"})",
                              R"({"y-encoder":"./evil.so"})"}) {
    other = honest;
    other.options = options;
    CHECK_THROWS_WITH(open(other), Catch::Contains("--trust"));
  }
  other = honest;
  other.snapshot = seal("SNAP", "");
  CHECK_THROWS_AS(open(other), Error);
}

TEST_CASE("A journal that is whole is learned again as it was, or with something else") {
  for (const auto& options : kinds()) {
    Recorder recorder(options, 4);
    learn_with_models(recorder, 4);
    recorder.learn(20);
    const StateFolder folder;
    StateFile file(folder.path("state.db"), Access::kCreate);
    recorder.write(file, 0, true);
    const auto record = find_stream(file, "chat");
    for (const bool keeps : {false, true}) {
      const auto to = folder.path(keeps ? "kept.db" : "new.db");
      {
        Rebuild rebuild({to, "chat", options, keeps}, EncoderPath());
        rebuild.learn_journal(file, record);
        CHECK(rebuild.was_replayed());
        CHECK(rebuild.left_out() == 0);
        rebuild.finish();
      }
      const StateFile made(to, Access::kRead);
      CHECK(made.check().empty());
      const auto copy = take_out(made, find_stream(made, ""), EncoderPath(), Trust::kNamesOnly);
      CHECK((state_of(*copy.stream) == state_of(recorder.stream())));
      CHECK(is_journal_whole(made, 1) == keeps);
      CHECK(made.journal(1).entries == (keeps ? recorder.journal().size() : 0));
    }
    // With another seed: the journal that is kept leads to the same stream as the snapshot.
    auto changed = options;
    override_options(changed, {{"seed", "8"}, {"learn-identical", "true"}});
    const auto to = folder.path("other.db");
    Rebuild rebuild({to, "chat", changed, true}, EncoderPath());
    rebuild.learn_journal(file, record);
    CHECK_FALSE(rebuild.was_replayed());
    CHECK(rebuild.stream().pairs() == recorder.pairs());
    const auto expected = state_of(rebuild.stream());
    rebuild.finish();
    const StateFile made(to, Access::kRead);
    const auto stream = open_stream(changed);
    ServingState serving(0);
    const auto [begun, adopted] = last_adoption(made, 1);
    Replay replay(*stream, serving, begun, adopted);
    made.read_journal(1, 0, false, [&](std::uint64_t, std::uint64_t, std::span<const char> bytes) {
      replay.apply(parse<Entry>(bytes));
      return true;
    });
    CHECK((state_of(*stream) == expected));
  }
}

TEST_CASE("A journal with a gap that a snapshot covers is recovered from, and not rebuilt") {
  Recorder recorder(small(), 4);
  for (int i = 0; i < 4; ++i) recorder.learn(50);
  recorder.take_snapshot();
  recorder.learn(50);
  const auto& journal = recorder.journal();
  const auto& snapshot = recorder.snapshots().at(4);
  // Entries 3 and 4 are missing, and in the second file all that came after.
  for (const std::size_t entries : {std::size_t{5}, std::size_t{2}}) {
    const StateFolder folder;
    const auto name = folder.path("state.db");
    StateFile file(name, Access::kCreate);
    file.transact([&] {
      file.put_stream("chat", identity_text(recorder.stream().identity()),
                      options_json(recorder.options()));
      for (std::size_t i = 0; i < entries; ++i) {
        if (i != 2 && i != 3) file.append(1, i + 1, journal[i].pairs, journal[i].bytes);
      }
      file.put_snapshot(1, 4, snapshot.pairs, snapshot.bytes, {2, true});
    });
    CHECK_FALSE(is_journal_whole(file, 1));
    const auto copy = take_out(file, find_stream(file, ""), EncoderPath(), Trust::kNamesOnly);
    CHECK(copy.remarks.empty());
    CHECK(copy.stream->pairs() == (entries == 5 ? 250 : 200));
    Rebuild rebuild({folder.path("new.db"), "chat", small(), true}, EncoderPath());
    CHECK_THROWS_WITH(rebuild.learn_journal(file, find_stream(file, "")),
                      Catch::Contains("a journal with a gap"));
    const auto verdict = verify(name);
    CHECK(verdict.problems.empty());
    CHECK(verdict.remarks.size() == (entries == 5 ? 1 : 0));
  }
}

TEST_CASE("What cannot be rebuilt leaves no file behind") {
  Recorder recorder(small(), 4);
  recorder.learn(100);
  recorder.take_snapshot();
  recorder.learn(100);
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  recorder.write(file, 1, false);
  const auto to = folder.path("new.db");
  {
    Rebuild rebuild({to, "chat", small(), true}, EncoderPath());
    CHECK_THROWS_WITH(rebuild.learn_journal(file, find_stream(file, "")),
                      Catch::Contains("begins with entry 2"));
    CHECK_THROWS_WITH(rebuild.finish(), Catch::Contains("found no pair"));
  }
  CHECK(StateFile(folder.path("state.db"), Access::kRead).streams().size() == 1);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    files += entry.path().filename().string().starts_with("new.db") ? 1 : 0;
  }
  CHECK(files == 0);
  CHECK_THROWS_WITH(Rebuild({folder.path("state.db"), "chat", small(), false}, EncoderPath()),
                    Catch::Contains("expected none"));
}

}  // namespace
}  // namespace phsic::test
