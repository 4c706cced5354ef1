#include "wire/statistics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "core/refresh.h"
#include "engine/batch.h"
#include "tests/core/streams.h"

namespace phsic::test {
namespace {

using Names = std::set<std::string>;

// A model that knows everything of itself.
std::shared_ptr<const PublishedModel> measured_model() {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 4}, Kernel::cosine(), 0};
  config.y = {{ItemKind::kDense, 3}, Kernel::cosine(), 0};
  config.held_back = 100;
  Learner<float> learner(config);
  const auto stream = make_stream<float>({.pairs = 600}, 1);
  learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
  EstimatorSpec spec;
  spec.kind = EstimatorKind::kGaussianPmi;
  spec.ridge = 1;
  auto published = std::make_shared<PublishedModel>();
  published->number = 1;
  published->seconds = 0.5;
  published->cut = 0.25;
  published->model = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack).model;
  return published;
}

StreamStatistics all_of_stream() {
  StreamStatistics all;
  all.kept = StreamStatistics::Kept{};
  all.published = measured_model();
  return all;
}

StateStatistics all_of_state() {
  StateStatistics all;
  all.file = "a \"file\"";
  all.problem = "full";
  return all;
}

Names names_of(const Statistics& statistics) {
  Names names;
  for (const auto& statistic : statistics) {
    INFO(statistic.name);
    CHECK(names.emplace(statistic.name).second);
    CHECK_FALSE(statistic.help.empty());
  }
  return names;
}

// The names in `code` of a text.
Names names_in(const std::string& text) {
  static const std::regex kName("`([a-z_0-9]+)`");
  Names names;
  for (std::sregex_iterator found(text.begin(), text.end(), kName), end; found != end; ++found) {
    names.insert((*found)[1]);
  }
  return names;
}

// The rows of the table with this head in docs/protocol.md: names and what is said of them.
std::vector<std::pair<std::string, std::string>> table(const std::string& head) {
  std::ifstream document(PHSIC_PROTOCOL);
  std::vector<std::pair<std::string, std::string>> rows;
  bool is_inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("| " + head + " |")) {
      is_inside = true;
    } else if (is_inside && !line.starts_with("|")) {
      break;
    } else if (is_inside && line.starts_with("| ")) {
      const auto bar = line.find(" | ");
      rows.emplace_back(line.substr(0, bar), line.substr(bar));
    }
  }
  return rows;
}

TEST_CASE("The protocol's document names every number of a stream, and no other") {
  Names documented;
  for (const auto& [names, meaning] : table("Of a stream")) documented.merge(names_in(names));
  CHECK(documented == names_of(all_of_stream().list()));
}

TEST_CASE("The protocol's document names every number of the daemon and its state, and no other") {
  Names documented;
  Names of_state;
  for (const auto& [names, meaning] : table("Of the daemon")) {
    if (names == "| `state`") {
      of_state = names_in(meaning);
    } else {
      documented.merge(names_in(names));
    }
  }
  CHECK(documented == names_of(DaemonStatistics().list()));
  CHECK(of_state == names_of(all_of_state().list()));
}

TEST_CASE("Statistics are members of a JSON object, each with its value") {
  auto stream = all_of_stream();
  stream.pairs = UINT64_MAX;
  stream.drift_p_value = 0.25;
  stream.latency = {0.001, 0.002, 0.003, 1.5};
  for (const auto& list : {stream.list(), DaemonStatistics().list(), all_of_state().list()}) {
    std::string members;
    append_statistics(list, members);
    const auto json = nlohmann::json::parse("{" + members + "}");
    CHECK(json.size() == list.size());
  }
  std::string members;
  append_statistics(stream.list(), members);
  const auto json = nlohmann::json::parse("{" + members + "}");
  CHECK(json["pairs"] == UINT64_MAX);
  CHECK(json["drift_p_value"] == 0.25);
  CHECK(json["keeping"] == true);
  CHECK(json["estimator"] == "gaussian-pmi");
  CHECK(json["latency"] ==
        nlohmann::json::parse(R"({"p50": 0.001, "p90": 0.002, "p99": 0.003, "max": 1.5})"));
  members.clear();
  append_statistics(all_of_state().list(), members);
  CHECK(nlohmann::json::parse("{" + members + "}")["file"] == "a \"file\"");
}

TEST_CASE("A number that is none is null") {
  StreamStatistics stream;
  stream.drift_p_value = std::numeric_limits<double>::quiet_NaN();
  std::string members;
  append_statistics(stream.list(), members);
  CHECK(nlohmann::json::parse("{" + members + "}")["drift_p_value"].is_null());
}

TEST_CASE("What a stream does not have is left out") {
  const auto names = names_of(StreamStatistics().list());
  for (const auto* name : {"keeping", "snapshots", "model", "estimator", "ridge"}) {
    CHECK_FALSE(names.contains(name));
  }
  CHECK_FALSE(names_of(StateStatistics().list()).contains("problem"));
  // One that counts.
  const auto counting = names_of(model_statistics(PublishedModel()));
  CHECK(counting == Names{"model", "epoch", "estimator"});
}

TEST_CASE("The unit of a statistic is found by its name, wherever it stands") {
  for (const auto& list :
       {all_of_stream().list(), DaemonStatistics().list(), all_of_state().list()}) {
    for (const auto& statistic : list) {
      INFO(statistic.name);
      CHECK(unit_of_statistic(statistic.name) == statistic.unit);
    }
  }
  CHECK(unit_of_statistic("no such") == Unit::kNone);
}

}  // namespace
}  // namespace phsic::test
