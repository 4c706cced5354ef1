// Whatever happened to a stream, and wherever it was cut into snapshot and journal: what is
// recovered is the stream that was never interrupted, bit for bit.
#include "state/recovery.h"

#include <catch2/catch.hpp>

#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

struct Setting {
  const char* name;
  StoredOptions options;
};

std::vector<Setting> settings() {
  const StoredOptions small = {
      {"encoder", "hashing:dim=16"}, {"reservoir", "64"}, {"held-back", "32"}, {"rank", "4"}};
  const auto with = [&](const StoredOptions& more) {
    auto options = small;
    override_options(options, more);
    return options;
  };
  return {
      {"explicit features", small},
      {"another estimator", with({{"estimator", "whitened"}, {"ridge", "0.5"}, {"refresh", "50"}})},
      {"pivots", with({{"kernel", "gaussian:sigma=median"}, {"pivots", "8"}})},
      {"pivots of texts", with({{"kernel", "spectrum:n=3"}, {"pivots", "6"}})},
      {"greedy pivots", with({{"kernel", "laplacian:gamma=1"},
                              {"pivots", "5"},
                              {"pivot-rule", "greedy"},
                              {"half-life", "300"}})},
      {"half-life in pairs", with({{"half-life", "200"}})},
      {"half-life in seconds", with({{"half-life", "30s"}})},
      {"window of pairs", with({{"window", "700"}})},
      {"window of seconds", with({{"window", "60s"}})},
      {"vectors", with({{"encoder", "vectors:dim=3"}, {"kernel", "gaussian:sigma=1"}})},
      {"counting", {{"estimator", "pmi"}}},
      {"counting that forgets", {{"estimator", "pmi"}, {"half-life", "20s"}}},
  };
}

// Finishes the model that is on its way, if there is one.
std::string finished(Stream& stream, std::unique_ptr<Refresh> pending) {
  if (pending != nullptr) {
    pending->build();
    stream.adopt(*pending);
  }
  return state_of(stream);
}

// Not for a stream of vectors, whose texts are numbers.
std::vector<double> scores_if_texts(const Stream& stream) {
  return stream.shape_x().kind == ItemKind::kDense ? std::vector<double>() : scores_of(stream);
}

std::vector<IdHash> ids_of(const ServingState& serving) { return serving.ids.ids(); }

TEST_CASE("A stream is recovered bit for bit from any snapshot and the journal after it") {
  for (const auto& [name, options] : settings()) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      INFO(name << ", seed " << seed);
      Recorder recorder(options, seed);
      for (int step = 0; step < 40; ++step) {
        recorder.do_something();
        if (step % 3 == 0) recorder.take_snapshot();
      }
      const bool is_building = recorder.is_building();
      // The model that is on its way comes into use after the cut.
      const auto expected_journal = recorder.journal().size();
      std::vector<std::uint64_t> cuts = {0};
      for (const auto& [number, snapshot] : recorder.snapshots()) cuts.push_back(number);
      struct Outcome {
        std::string state;
        std::uint64_t models;
      };
      std::vector<Outcome> outcomes;
      for (const auto cut : cuts) {
        INFO("cut after entry " << cut << " of " << expected_journal);
        const StateFolder folder;
        StateFile file(folder.path("state.db"), Database::Access::kCreate);
        recorder.write(file, cut, cut % 2 == 0);
        const auto stream = open_stream(options);
        auto recovery = recover(file, Recorder::kName, *stream, Recorder::kIdWindow);
        CHECK(recovery.damage.empty());
        CHECK(recovery.lost == 0);
        CHECK(recovery.stream == Recorder::kStream);
        CHECK(recovery.last == EntryPlace{Recorder::kStream, expected_journal, recorder.pairs()});
        CHECK(recovery.from_snapshot + recovery.replayed == recorder.pairs());
        CHECK((recovery.pending != nullptr) == is_building);
        CHECK(ids_of(recovery.serving) == ids_of(recorder.serving()));
        const bool is_same = state_of(*stream) == state_of(recorder.stream());
        CHECK(is_same);
        CHECK(scores_if_texts(*stream) == scores_if_texts(recorder.stream()));
        outcomes.push_back({finished(*stream, std::move(recovery.pending)), recovery.models});
      }
      for (const auto& outcome : outcomes) {
        const bool is_same = outcome.state == outcomes.front().state;
        CHECK(is_same);
      }
    }
  }
}

// The control: the comparison sees whether anything is left out.
TEST_CASE("A replay without one of its entries gives another stream") {
  for (const auto& [name, options] : settings()) {
    Recorder recorder(options, 5);
    for (int step = 0; step < 30; ++step) recorder.do_something();
    std::vector<Entry> entries;
    for (const auto& recorded : recorder.journal()) {
      entries.push_back(parse<Entry>(recorded.bytes));
    }
    const auto replayed = [&, &described = options](std::size_t without) {
      const auto stream = open_stream(described);
      ServingState serving(Recorder::kIdWindow);
      std::uint64_t begun = 0;
      std::uint64_t last_begun = 0;
      std::uint64_t adopted = 0;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i == without) continue;
        if (entries[i].kind == EntryKind::kFreeze) begun = i + 1;
        if (entries[i].kind == EntryKind::kAdopt) {
          adopted = i + 1;
          last_begun = begun;
        }
      }
      Replay replay(*stream, serving, last_begun, adopted);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i != without) replay.apply(entries[i]);
      }
      return state_of(*stream);
    };
    INFO(name);
    const auto whole = replayed(entries.size());
    CHECK((whole == state_of(recorder.stream())));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      // An entry that begins a model only changes when the next one is due, which a later model may
      // decide anew. A model that could not be built changes nothing.
      if (entries[i].pairs.size() == 0) continue;
      INFO("without entry " << i + 1);
      CHECK((replayed(i) != whole));
    }
  }
}

TEST_CASE("A stream that the file does not know stays as empty as it was") {
  const StateFolder folder;
  const StateFile file(folder.path("state.db"), Database::Access::kCreate);
  const auto stream = open_stream({{"encoder", "hashing:dim=16"}});
  const auto recovery = recover(file, "chat", *stream, 10);
  CHECK(recovery.stream == 0);
  CHECK(recovery.damage.empty());
  CHECK(stream->pairs() == 0);
}

TEST_CASE("State that was learned with something else is refused with both") {
  const StateFolder folder;
  Recorder recorder({{"encoder", "hashing:dim=16"}, {"held-back", "32"}}, 1);
  recorder.learn(50);
  StateFile file(folder.path("state.db"), Database::Access::kCreate);
  recorder.write(file, 0, true);
  const auto stream = open_stream({{"encoder", "hashing:dim=16"}, {"held-back", "64"}});
  CHECK_THROWS_AS(recover(file, "chat", *stream, 10), IdentityError);
  CHECK_THROWS_WITH(recover(file, "chat", *stream, 10),
                    Catch::Contains("held-back: found 32, expected 64"));
  // What may change does not matter.
  const auto other = open_stream(
      {{"encoder", "hashing:dim=16"}, {"held-back", "32"}, {"rank", "3"}, {"refresh", "77"}});
  CHECK(recover(file, "chat", *other, 10).replayed == 50);
}

TEST_CASE("A damaged snapshot costs nothing as long as there is an older one, or the journal") {
  Recorder recorder({{"encoder", "hashing:dim=16"}, {"held-back", "32"}}, 1);
  for (int i = 0; i < 3; ++i) {
    recorder.learn(300);
    recorder.freeze(Stream::Extent::kWithoutHeldBack);
    recorder.adopt();
    recorder.take_snapshot();
  }
  const auto& snapshots = recorder.snapshots();
  for (const bool has_older : {true, false}) {
    const StateFolder folder;
    StateFile file(folder.path("state.db"), Database::Access::kCreate);
    recorder.write(file, has_older ? snapshots.begin()->first : 0, true);
    file.transact([&] {
      auto damaged = snapshots.rbegin()->second.bytes;
      damaged[damaged.size() / 2] ^= 1;
      file.put_snapshot(Recorder::kStream, snapshots.rbegin()->first, recorder.pairs(), damaged,
                        {3, true});
    });
    const auto stream = open_stream(recorder.options());
    const auto recovery = recover(file, "chat", *stream, Recorder::kIdWindow);
    CHECK(recovery.damage.size() == 1);
    CHECK(recovery.lost == 0);
    CHECK(recovery.from_snapshot == (has_older ? snapshots.begin()->second.pairs : 0));
    CHECK((state_of(*stream) == state_of(recorder.stream())));
  }
}

// Refuses what the first snapshot has decided.
class RefusesOnce : public DecisionReplay {
 public:
  void open(const StateParts& /*parts*/) override {
    if (++opened == 1) throw Error("found nonsense, expected decisions");
  }
  void learned(std::string_view /*x*/, std::string_view /*y*/, const DecisionCode&) override {}
  void learned(std::span<const float> /*x*/, std::span<const float> /*y*/,
               const DecisionCode&) override {}
  void rejected(const DecisionCode& /*decision*/) override {}
  void adopted() override {}
  void cut(std::string_view /*note*/) override {}
  void save(StateParts& /*parts*/) const override {}

  int opened = 0;
};

TEST_CASE("Of a snapshot whose decisions are refused nothing stays") {
  Recorder recorder({{"encoder", "hashing:dim=16"}, {"held-back", "32"}}, 1);
  recorder.learn(300);
  recorder.take_snapshot();
  recorder.learn(200);
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Database::Access::kCreate);
  recorder.write(file, recorder.snapshots().begin()->first, true);
  const auto stream = open_stream(recorder.options());
  RefusesOnce decisions;
  const auto recovery = recover(file, "chat", *stream, Recorder::kIdWindow, {}, {}, &decisions);
  CHECK(recovery.damage.size() == 1);
  CHECK(recovery.from_snapshot == 0);
  CHECK(recovery.lost == 0);
  CHECK(decisions.opened == 2);  // and begins with nothing
  CHECK((state_of(*stream) == state_of(recorder.stream())));
}

TEST_CASE("Where neither a snapshot nor the first entry is left, nothing is recovered in silence") {
  Recorder recorder({{"encoder", "hashing:dim=16"}, {"held-back", "32"}}, 1);
  recorder.learn(300);
  recorder.take_snapshot();
  recorder.learn(200);
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Database::Access::kCreate);
  recorder.write(file, 1, false);
  const auto broken = std::string("no snapshot at all");
  file.transact([&] { file.put_snapshot(Recorder::kStream, 1, 300, broken, {1, true}); });
  const auto stream = open_stream(recorder.options());
  CHECK_THROWS_WITH(recover(file, "chat", *stream, 10), Catch::Contains("begins with entry 2"));
}

TEST_CASE("From a damaged entry on everything is lost, and told") {
  Recorder recorder({{"encoder", "hashing:dim=16"}, {"held-back", "32"}}, 1);
  for (int i = 0; i < 5; ++i) recorder.learn(100);
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Database::Access::kCreate);
  file.transact([&] {
    REQUIRE(file.put_stream("chat", identity_text(recorder.stream().identity()), "{}") == 1);
    for (std::size_t i = 0; i < 5; ++i) {
      auto bytes = recorder.journal()[i].bytes;
      if (i == 2) bytes[bytes.size() / 2] ^= 1;
      file.append(1, i + 1, 100, bytes);
    }
  });
  const auto stream = open_stream(recorder.options());
  const auto recovery = recover(file, "chat", *stream, 10);
  CHECK(stream->pairs() == 200);
  CHECK(recovery.lost == 300);
  // The journal goes on behind what cannot be read.
  CHECK(recovery.last == EntryPlace{1, 5, 200});
  REQUIRE(recovery.damage.size() == 1);
  CHECK_THAT(recovery.damage[0], Catch::Contains("entry 3 of the journal is damaged"));
}

TEST_CASE("A journal that ends before its mark is told of, and goes on behind it") {
  Recorder recorder({{"encoder", "hashing:dim=16"}, {"held-back", "32"}}, 1);
  for (int i = 0; i < 3; ++i) recorder.learn(100);
  const StateFolder folder;
  const auto name = folder.path("state.db");
  StateFile file(name, Database::Access::kCreate);
  recorder.write(file, 0, true);
  StateLock lock(name);
  const auto created = file.find("chat")->created;
  const auto recovered = [&] {
    const auto stream = open_stream(recorder.options());
    auto recovery = recover(file, "chat", *stream, 10, StateMarks(name));
    CHECK(stream->pairs() == 300);
    return recovery;
  };
  for (const auto& mark : {StateMark{2, 200}, StateMark{3, 300}}) {
    lock.note(1, created, mark);
    CHECK(recovered().damage.empty());
  }
  lock.note(1, created, {5, 470});
  const auto recovery = recovered();
  CHECK(recovery.lost == 170);
  CHECK(recovery.last == EntryPlace{1, 5, 300});
  REQUIRE(recovery.damage.size() == 1);
  CHECK_THAT(recovery.damage[0], Catch::Contains("entry to be 3, expected at least 5"));
  // A stream that has lost everything is not taken for a new one.
  file.transact([&] {
    file.remove_stream(1);
    file.add_stream(1, "chat", identity_text(recorder.stream().identity()), "{}");
  });
  lock.note(1, file.find("chat")->created, {5, 470});
  const auto stream = open_stream(recorder.options());
  CHECK(recover(file, "chat", *stream, 10, StateMarks(name)).lost == 470);
}

}  // namespace
}  // namespace phsic::test
