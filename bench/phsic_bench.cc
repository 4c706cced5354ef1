// Runs the measures and reports them. Exits with 1 if an answer is wrong; a missed goal is only
// reported. Google Benchmark runs the list, so that its options work, --benchmark_filter above all.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/machine.h"
#include "bench/measures.h"

namespace phsic::bench {
namespace {

// The measures report for themselves; what is left is to notice the failed ones.
class FailureReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (!run.error_occurred) continue;
      failed_ = true;
      fmt::print(stderr, "FAILED {}: {}\n", run.run_name.function_name, run.error_message);
    }
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  bool failed_ = false;
};

void register_measures(Report& report) {
  // Memory first: what the other measures leave behind would blur it.
  const std::vector<std::pair<const char*, void (*)(Report&)>> measures = {
      {"memory_growth", memory_growth},
      {"learn_dense", learn_dense},
      {"score_dense", score_dense},
      {"score_at_rank", score_at_rank},
      {"build_gaussian_pmi", build_gaussian_pmi},
      {"learn_gaussian", learn_gaussian},
      {"learn_and_score_sparse", learn_and_score_sparse},
      {"score_growth", score_growth},
      {"texts_with_hashing", texts_with_hashing},
      {"texts_with_word_vectors", texts_with_word_vectors},
      {"views_of_texts", views_of_texts},
      {"judge_of_texts", judge_of_texts},
      {"beside_published", beside_published},
      {"round_trips", round_trips},
      {"wire_throughput", wire_throughput},
      {"refresh_stalls", refresh_stalls},
      {"feed_delay", feed_delay},
      {"daemon_memory", daemon_memory},
      {"durable_learning", durable_learning},
      {"durable_latency", durable_latency},
      {"recovery_speed", recovery_speed},
      {"snapshot_cost", snapshot_cost},
      {"snapshot_stalls", snapshot_stalls},
      {"durable_stalls", durable_stalls},
  };
  for (const auto& [name, measure] : measures) {
    const auto run = [&report, measure = measure](benchmark::State& state) {
      for ([[maybe_unused]] auto _ : state) {
        try {
          measure(report);
        } catch (const std::exception& error) {
          state.SkipWithError(error.what());
          return;
        }
      }
    };
    // Once: a measure does its own repetitions, ours and bare in turns.
    benchmark::RegisterBenchmark(name, run)->Iterations(1);
  }
}

// Takes --json FILE or --json=FILE out of the arguments; the rest is Google Benchmark's.
std::string take_json_path(int& argc, char** argv) {
  constexpr std::string_view kOption = "--json";
  std::string path;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == kOption && i + 1 < argc) {
      path = argv[++i];
    } else if (argument.starts_with("--json=")) {
      path = argument.substr(kOption.size() + 1);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return path;
}

int run(int argc, char** argv) {
  const std::string json = take_json_path(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;

  fmt::print("{}", describe_machine());
  fmt::print("ratios    bare time / our time, best of 20 runs of each in turns, 1 = as fast\n\n");
  Report report;
  register_measures(report);
  FailureReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (!json.empty()) report.write_json(json);
  return reporter.failed() ? 1 : 0;
}

}  // namespace
}  // namespace phsic::bench

int main(int argc, char** argv) {
  try {
    return phsic::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "phsic_bench: {}\n", error.what());
    return 1;
  }
}
