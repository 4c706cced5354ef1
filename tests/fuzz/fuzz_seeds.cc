// fuzz_seeds DIR writes small valid inputs for every fuzz target: DIR/<target>/<number>.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/random.h"
#include "core/refresh.h"
#include "daemon/config.h"
#include "decide/decision_memory.h"
#include "decide/language_profile.h"
#include "decide/learned_pairs.h"
#include "tests/cli/files.h"
#include "tests/fuzz/check_state.h"
#include "tests/fuzz/encoder_seeds.h"
#include "tests/fuzz/text_streams.h"

namespace phsic {
namespace {

class SeedWriter {
 public:
  explicit SeedWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void write(const std::string& target, const std::string& bytes) {
    const std::filesystem::path place = folder_ / target;
    std::filesystem::create_directories(place);
    std::ofstream file(place / std::to_string(count_++), std::ios::binary);
    file << bytes;
    if (!file.flush()) throw std::runtime_error("cannot write to " + place.string());
  }

  // As a payload for its own target, and whole for the envelope's.
  template <class Object>
  void write_state(const std::string& target, const Object& object) {
    Writer writer;
    object.save(writer);
    write(target, writer.bytes());
    write("envelope_fuzz", serialise(object));
  }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
};

SideConfig side(ItemKind kind, const char* kernel, std::uint32_t pivots) {
  SideConfig config;
  config.items = {kind, kind == ItemKind::kText ? 0U : 2U};
  config.kernel = Kernel::parse(kernel);
  config.pivots = pivots;
  return config;
}

std::vector<StreamConfig> make_configs() {
  using enum Forgetting::Mode;
  StreamConfig config;
  config.reservoir = 16;
  config.held_back = 4;
  std::vector<StreamConfig> configs;
  const auto add = [&](const SideConfig& x, const SideConfig& y, Forgetting forgetting) {
    config.x = x;
    config.y = y;
    config.forgetting = forgetting;
    configs.push_back(config);
  };
  add(side(ItemKind::kDense, "cosine", 0), side(ItemKind::kDense, "linear", 0), {});
  add(side(ItemKind::kDense, "gaussian:sigma=median", 3), side(ItemKind::kText, "spectrum:n=2", 4),
      {kHalfLifePairs, 100, 8});
  add(side(ItemKind::kSparse, "cosine", 0),
      side(ItemKind::kDense, "sum(gaussian:sigma=scott,laplacian)", 2), {kWindowPairs, 500, 2});
  config.parts = Moments::Parts::kCrossOnly;
  add(side(ItemKind::kSparse, "polynomial", 3),
      side(ItemKind::kText, "product(spectrum:n=1,spectrum)", 2), {kHalfLifeSeconds, 50, 8});
  add(side(ItemKind::kSparse, "linear", 0), side(ItemKind::kSparse, "gaussian:sigma=2", 2),
      {kWindowSeconds, 200, 3});
  return configs;
}

template <class T>
ItemBlock<T> make_items(const ItemShape& shape, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  ItemBlock<T> block(shape);
  for (std::size_t i = 0; i < count; ++i) {
    const T values[] = {static_cast<T>(random.normal()), static_cast<T>(random.normal())};
    const std::uint32_t indices[] = {0, 1};
    const std::string text = std::to_string(random.below(1000));
    const std::size_t start[] = {0, shape.kind == ItemKind::kText ? text.size() : 2};
    Items<T> item = DenseRows<T>{values, 1, 2};
    if (shape.kind == ItemKind::kSparse) item = SparseRows<T>{start, indices, values, 1, 2};
    if (shape.kind == ItemKind::kText) item = TextRows{start, text.data(), 1};
    if (block.append(item, 0) != Fault::kNone) throw std::runtime_error("a seed's item is faulty");
  }
  return block;
}

template <class T>
void write_streams(SeedWriter& seeds, const std::string& learner_target) {
  for (const StreamConfig& config : make_configs()) {
    Learner<T> learner(config);
    seeds.write_state(learner_target, learner);
    // Some pairs held by themselves, and more than a block of them in the moments.
    for (const std::size_t count : {std::size_t{5}, std::size_t{300}}) {
      const ItemBlock<T> x = make_items<T>(config.x.items, count, count);
      const ItemBlock<T> y = make_items<T>(config.y.items, count, count + 1);
      static_cast<void>(learner.learn(x.view(), y.view(), nullptr, nullptr, nullptr));
      if (const auto change = learner.propose_pivots()) {
        if (sizeof(T) == sizeof(float)) seeds.write_state("pivot_change_fuzz", *change);
        learner.adopt(*change);
      }
      seeds.write_state(learner_target, learner);
      EstimatorSpec spec;
      if (config.parts == Moments::Parts::kAll) spec.kind = EstimatorKind::kGaussianPmi;
      const auto refreshed = refresh(learner, spec, Learner<T>::Extent::kAll);
      if (sizeof(T) == sizeof(float)) seeds.write_state("model_fuzz", *refreshed.model);
    }
  }
}

void write_counts(SeedWriter& seeds) {
  CountPmi pmi(4);
  seeds.write_state("pmi_fuzz", pmi);
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(pmi.learn(std::to_string(i % 7), std::to_string(i % 3), 1 + i));
    pmi.decay(0.9);
    if (i % 5 == 0) seeds.write_state("pmi_fuzz", pmi);
  }
}

void write_alarms(SeedWriter& seeds) {
  DriftAlarm alarm;
  seeds.write_state("drift_fuzz", alarm);
  Random random(1);
  for (const double apart : {0, 3}) {
    alarm.restart(Calibration({0, 0.5, 0.5, 1, 2}, {0}));
    for (int i = 0; i < 100; ++i) alarm.add(random.normal() + apart);
    seeds.write_state("drift_fuzz", alarm);
  }
}

void write_decisions(SeedWriter& seeds) {
  DecidePlan plan;
  plan.duplicate_window = 8;
  DecisionMemory memory(plan);
  LearnedPairs learned;
  std::string scratch;
  for (const char* text : {"a", "b c", "Page 1", "\u4f60\u597d", "z"}) {
    const auto key = key_of(text, text, scratch);
    memory.learned(text, text, key, {Verdict::kKeep, reasons::kNone});
    memory.rejected({Verdict::kDrop, reasons::kDuplicate});
    learned.add(key);
  }
  static_cast<void>(memory.choose_cut(Calibration({0, 1, 2}, {0, 1})));
  Writer recent;
  memory.recent().save(recent);
  Writer prints;
  learned.save(prints);
  const std::string saved = memory.save();
  const auto payload = unseal(DecisionMemory::kArchiveKind, saved).rest();
  seeds.write("decide_state_fuzz", recent.bytes());
  seeds.write("decide_state_fuzz", prints.bytes());
  seeds.write("decide_state_fuzz", std::string(payload.begin(), payload.end()));
}

// Two files in one input, see aligned_fuzz.cc.
void write_aligned(SeedWriter& seeds, const std::string& x, const std::string& y) {
  const std::size_t cut = x.size();
  const std::string input = {static_cast<char>(cut / 256), static_cast<char>(cut % 256)};
  seeds.write("aligned_fuzz", input + x + y);
}

void write_tables(SeedWriter& seeds) {
  const std::string tables[] = {
      "a\tb\nc\td\te\r\n\nf\n", "\xef\xbb\xbfx\ty\n1\t\xe4\xbd\xa0\n2\t\xff\n",
      R"({"x":"a\u00e9\ud83d\ude00\n","y":"b","z":{"score":[1,true,null]}})",
      R"({ "y" : [1, -2.5e-3] , "x" : 12345678901234567890123 })",
      R"({"x":"a","candidates":["b",[1,2]],"y":["c"]})"};
  for (const std::string& table : tables) {
    for (const char options : {'\x00', '\x08', '\x14', '\x30', '\x44'}) {
      seeds.write("table_fuzz", fmt::format("{}{}\n{}", options, table, table));
    }
    seeds.write("line_fuzz", table);
    write_aligned(seeds, table, tables[0]);
    for (const char* how : test::kCompressions) {
      const std::string packed = test::compress(table, how);
      seeds.write("line_fuzz", packed);
      write_aligned(seeds, packed, table);
      seeds.write("line_fuzz", packed + packed);
    }
  }
}

void write_requests(SeedWriter& seeds) {
  const std::string floats(16, '\0');
  const std::vector<std::string> requests = {
      R"({"op":"score","stream":"chat","id":42,"pairs":[["a b","c"],{"x":"d","y":"e","id":"i","time":1.5}]})",
      R"({"op":"score-and-learn","pairs":[["\u00e9","\ud83d\ude00"]],"wait":true})",
      R"({"op":"learn","pairs":[],"id":"z"})",
      R"({"op":"rank","x":"a","candidates":["b","c"]})",
      R"({"op":"explain","pairs":[["a","b"]],"top":3})",
      R"({"op":"stats","stream":"s","calibration":true})",
      R"({"op":"refresh","all":true})",
      R"({"op":"ping"})",
      R"({"op":"streams"})",
      R"({"op":"score","x":{"rows":2,"dim":2},"y":{"rows":2,"dim":2}})"
      "\n--\n" +
          floats + "\n--\n" + floats,
      R"({"op":"rank","x":{"rows":1,"dim":4},"y":{"rows":2,"dim":2}})"
      "\n--\n" +
          floats + "\n--\n" + floats,
  };
  for (const auto& request : requests) seeds.write("request_fuzz", "0" + request);
  const std::vector<std::string> messages = {
      R"({"stream":"chat","x":"a","y":"b","id":"m","time":7})",
      R"({"pairs":[["a","b"]],"stream":"s"})",
      R"({"seq":1,"score":0.5,"x":"a","y":"b","model":3})",
  };
  for (const auto& message : messages) {
    seeds.write("request_fuzz", "1" + message);
    seeds.write("request_fuzz", "2" + message);
  }
}

// The examples of docs/protocol.md, more or less.
void write_answers(SeedWriter& seeds) {
  for (
      const char* answer :
      {R"({"ok":true,"id":42,"scores":[1.83,null,-2],"percentiles":[0.61],"p_values":[0.012],)"
       R"("model":17,"epoch":0,"problems":[{"pair":1,"message":"y: found no number"}]})",
       R"({"ok":false,"id":42,"error":{"code":"overloaded","message":"the queue is full"}})",
       R"({"ok":true,"score":1.83,"rest":-0.2,"model":17,"raise":[{"contribution":0.31,"x":"how",)"
       R"("y":"fine","number":8123}],"lower":[]})",
       R"({"ok":true,"score":2,"quality":0.5,"expert":{"damage":"glued","about":"b","log_odds":-1,)"
       R"("components":[{"contribution":-1,"deviations":-2,"name":"n","about":"a"}]},"words":{"x":)"
       R"({"count":2,"unexamined":1,"raise":[{"contribution":1,"word":"w","place":0}],"lower":[]},)"
       R"("y":{"count":0,"raise":[],"lower":[]}},"raise":[],"lower":[]})",
       R"({"ok":true,"streams":{"chat":{"pairs":5120,"estimator":"phsic","self_auc":0.9,"hsic":)"
       R"(0.004,"latency":{"p50":0.0003,"max":61},"queue_bytes":4096,"calibration":{"matched":)"
       R"([1,2.5],"null":[-1e3]}}},"daemon":{"version":"0.1.0","uptime":4000.5,"memory":1048576}})",
       R"({"ok":true,"streams":[{"name":"chat","options":{"encoder":"hashing","rank":3},)"
       R"("pairs":5120,"model":18}]})",
       R"({"ok":true,"version":"0.1.0","endpoints":{"service":["tcp://*:1"],"feed":["ipc:///x"]}})",
       R"({"seq":7,"id":"m-1","score":1.83,"percentile":0.61,"p_value":0.012,"time":1700000000.5,)"
       R"("delay":0.0003,"x":"\u001b[2J","y":"b"})",
       R"({"seq":3,"event":"refresh","model":18,"pairs":5120,"self_auc":0.93})"}) {
    seeds.write("answer_fuzz", answer);
  }
}

void write_configurations(SeedWriter& seeds) {
  using namespace std::string_literals;
  seeds.write("config_fuzz", std::string(default_config_text()));
  for (const std::string& text :
       {"service: [tcp://127.0.0.1:1, ipc:///x, 'tcp://*:*']\nexposed: true\nstreams: {a: }"s,
        "defaults: {encoder: {name: hashing, dim: 8}, window: 9}\nstreams:\n  a: {half-life: "
        "2h, kernel: gaussian:sigma=median}\n"s,
        "subscribe:\n  - {endpoint: 'tcp://h:1', topic: t, stream: a}\nstreams: {a: }\n"s,
        "streams: {a: {queue-bytes: 4MiB, refresh: 3, refresh-after: never, ingest: []}}"s,
        "a: &x [1, 2]\nb: *x\n? c\n: |\n  d\n---\n\"e\\u00e9\""s,
        "a: 1\na: 2\nstraems: {b: [{c: d}]}"s, "streams: {a: }\0streams.a.window=2h"s,
        "streams: {a: }\0service=inproc://a,inproc://b"s,
        "streams: {a: }\0defaults.encoder=hashing:dim=4"s}) {
    seeds.write("config_fuzz", text);
  }
}

// Two texts with a newline between them, and a saved profile after another one.
void write_rules(SeedWriter& seeds) {
  for (const char* texts :
       {"Tom ist hier.\nTom is here.", "sch\u00c3\u00b6n (1,000)\n\u4f60\u597d [\u3010",
        "Home | News \u00bb A :: b\nhttps://a.b/c \\u00e9 &#233;", "l i k e t h i s\nAGlueDWord"}) {
    seeds.write("rules_fuzz", texts);
  }
  LanguageProfile profile;
  for (int i = 0; i < 300; ++i) profile.learn("the weather is fine", "das Wetter ist sch\u00f6n");
  Writer writer;
  profile.save(writer);
  seeds.write("rules_fuzz", "x\ny\n" + writer.bytes());
}

void write_all(SeedWriter& seeds) {
  write_rules(seeds);
  write_answers(seeds);
  write_configurations(seeds);
  write_requests(seeds);
  write_tables(seeds);
  write_streams<float>(seeds, "learner_float_fuzz");
  write_streams<double>(seeds, "learner_double_fuzz");
  write_counts(seeds);
  write_alarms(seeds);
  write_decisions(seeds);
  for (const auto& [target, bytes] : fuzz::state_seeds()) seeds.write(target, bytes);
  fuzz::write_encoder_seeds(
      [&](const std::string& target, const std::string& bytes) { seeds.write(target, bytes); });
  for (const char* notation :
       {"linear", "cosine", "gaussian:sigma=0.5", "gaussian:sigma=median", "gaussian:sigma=scott",
        "gaussian:sigma=silverman", "laplacian:gamma=2", "polynomial:degree=3,gamma=0.5,offset=1",
        "spectrum:n=3", "sum(gaussian:sigma=1,product(linear,polynomial:degree=2))"}) {
    seeds.write("kernel_fuzz", notation);
  }
  for (const char* option : {"hashing:dim=2048,words=false", "wordvec:file=\"a,b\"", "0.3", "7d",
                             "gaussian-pmi", "2004-12-25T03:32:00.5+01:00", "true", "4096"}) {
    seeds.write("option_fuzz", option);
  }
  for (const char* text : {"\x02", "\x02plain", "\x04na\xc3\xafve", "\x01\xe4\xbd\xa0\xe5\xa5\xbd",
                           "\x03\xf0\x9f\x98\x80", "\x03\xed\xa0\x80", "\x03\xc0\xaf"}) {
    seeds.write("text_fuzz", text);
  }
}

}  // namespace
}  // namespace phsic

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fuzz_seeds DIR\n";
    return 2;
  }
  try {
    phsic::SeedWriter seeds(argv[1]);
    phsic::write_all(seeds);
  } catch (const std::exception& error) {
    std::cerr << "fuzz_seeds: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
