#include "wire/answer_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/batch.h"
#include "wire/printable.h"

namespace phsic {
namespace {

namespace dom = simdjson::dom;

JsonObject object_in(const dom::element& element, std::string_view name) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) {
    refuse_member(name, describe(element.type()), "an array of objects");
  }
  return JsonObject(object);
}

std::string_view text_in(const dom::element& element, std::string_view name) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) {
    refuse_member(name, describe(element.type()), "an array of strings");
  }
  return text;
}

std::vector<double> numbers_in(const JsonObject& object, std::string_view name) {
  std::vector<double> numbers;
  for (const auto element : object.array(name)) {
    double number = 0;
    if (element.get(number) != simdjson::SUCCESS) {
      refuse_member(name, describe(element.type()), "an array of numbers");
    }
    numbers.push_back(number);
  }
  return numbers;
}

// An option is a text, but one that looks like a number may come as one.
std::string notation_of(const dom::element& value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  return simdjson::minify(value);
}

// Each is looked up by its name, so there must not be any number of them.
std::vector<ViewFacts> read_views(const JsonObject& stats) {
  std::vector<ViewFacts> views;
  const auto weights = stats.find_object("view_weights");
  const auto aucs = stats.find_object("view_self_aucs");
  if (!weights) return views;
  if (const auto count = weights->members().size(); count > kMostViews) {
    refuse_member("view_weights", fmt::format("{} views", count),
                  fmt::format("{} at most", kMostViews));
  }
  for (const auto [name, value] : weights->members()) {
    ViewFacts view;
    view.name = name;
    view.weight = weights->number(name);
    if (const auto auc = aucs ? aucs->find_number(name) : std::nullopt) {
      view.accuracy.emplace().auc = *auc;
    }
    views.push_back(std::move(view));
  }
  return views;
}

std::optional<DamageFacts> read_damage(const JsonObject& stats) {
  constexpr std::size_t kMostKinds = 64;
  const auto junk_share = stats.find_number("junk_share");
  const auto kinds = stats.find_object("damage");
  if (!junk_share || !kinds) return std::nullopt;
  if (const auto count = kinds->members().size(); count > kMostKinds) {
    refuse_member("damage", fmt::format("{} kinds", count), fmt::format("{} at most", kMostKinds));
  }
  DamageFacts facts;
  facts.junk_share = *junk_share;
  for (const auto [name, value] : kinds->members()) {
    facts.kinds.emplace_back(name, kinds->number(name));
  }
  return facts;
}

}  // namespace

std::optional<RefusedError> refusal(const JsonObject& answer, const std::string& endpoint) {
  const auto ok = answer.find_flag("ok");
  if (!ok) refuse_member("ok", "missing", "true or false");
  if (*ok) return std::nullopt;
  const auto error = answer.object("error");
  const std::string code(error.text("code"));
  return RefusedError(
      code, fmt::format("{}: {}: {}", endpoint, printable(code), printable(error.text("message"))));
}

void read_problems(const JsonObject& answer, std::size_t first, std::size_t count,
                   std::vector<PairProblem>& problems) {
  const auto list = answer.find_array("problems");
  if (!list) return;
  for (const auto element : *list) {
    const auto problem = object_in(element, "problems");
    PairProblem found{PairProblem::kNoRow, printable(problem.text("message"))};
    if (const auto pair = problem.find_count("pair")) {
      if (*pair >= count) {
        refuse_member("pair", fmt::format("{}", *pair), fmt::format("a number below {}", count));
      }
      found.row = first + *pair;
    }
    problems.push_back(std::move(found));
  }
}

void read_scores(const JsonObject& answer, std::size_t first, std::size_t count, double* scores,
                 std::vector<PairProblem>& problems) {
  const auto before = problems.size();
  read_problems(answer, first, count, problems);
  const auto list = answer.array("scores");
  std::size_t i = 0;
  for (const auto element : list) {
    if (i == count) break;
    double& score = scores[i++];
    score = std::numeric_limits<double>::quiet_NaN();
    if (element.is_null()) continue;
    if (element.get(score) != simdjson::SUCCESS) {
      refuse_member("scores", describe(element.type()), "an array of numbers");
    }
  }
  if (i < count || list.size() != count) {
    refuse_member("scores", fmt::format("{} long", list.size()), fmt::format("{}", count));
  }
  // No score goes without a reason.
  const auto is_told = [&](std::size_t row) {
    return std::any_of(problems.begin() + static_cast<std::ptrdiff_t>(before), problems.end(),
                       [&](const PairProblem& problem) {
                         return problem.row == row || problem.row == PairProblem::kNoRow;
                       });
  };
  for (std::size_t j = 0; j < count; ++j) {
    if (std::isnan(scores[j]) && !is_told(first + j)) {
      problems.push_back({first + j, "the daemon gave it no score"});
    }
  }
}

JsonObject stats_of_stream(const JsonObject& answer, const std::string& stream) {
  const auto streams = answer.object("streams");
  if (!stream.empty()) return streams.object(stream);
  if (streams.members().size() != 1) {
    refuse_member("streams", fmt::format("{} streams", streams.members().size()), "one");
  }
  const auto only = *streams.members().begin();
  return streams.object(only.key);
}

StreamFacts read_facts(const JsonObject& stats) {
  StreamFacts facts;
  facts.pairs = stats.count("pairs");
  facts.clipped = stats.find_count("clipped").value_or(0);
  facts.estimator = stats.find_text("estimator").value_or("");
  facts.ridge = stats.find_number("ridge").value_or(0);
  if (const auto auc = stats.find_number("self_auc")) {
    Accuracy accuracy;
    accuracy.auc = *auc;
    accuracy.mrr = stats.find_number("self_mrr").value_or(0);
    accuracy.recall_1 = stats.find_number("recall_at_1").value_or(0);
    facts.accuracy = accuracy;
  }
  if (const auto hsic = stats.find_number("hsic")) {
    facts.dependence = {*hsic, stats.find_number("cka"), stats.find_number("p_value")};
  }
  facts.views = read_views(stats);
  facts.damage = read_damage(stats);
  return facts;
}

Calibration read_calibration(const JsonObject& answer, const JsonObject& stats) {
  auto calibration = stats.find_object("calibration");
  if (!calibration) calibration = answer.find_object("calibration");
  if (!calibration) return {};
  return {numbers_in(*calibration, "matched"), numbers_in(*calibration, "null")};
}

std::vector<RemoteStream> read_streams(const JsonObject& answer) {
  std::vector<RemoteStream> streams;
  for (const auto element : answer.array("streams")) {
    const auto stream = object_in(element, "streams");
    RemoteStream found;
    found.name = stream.text("name");
    found.pairs = stream.find_count("pairs").value_or(0);
    found.model = stream.find_count("model").value_or(0);
    if (const auto options = stream.find_object("options")) {
      for (const auto [name, value] : options->members()) {
        found.options.emplace_back(name, notation_of(value));
      }
    }
    streams.push_back(std::move(found));
  }
  return streams;
}

RequestLimits read_limits(const JsonObject& answer) {
  RequestLimits limits;
  const auto found = answer.find_object("limits");
  if (!found) return limits;
  if (const auto pairs = found->find_count("request_pairs")) {
    limits.pairs = std::clamp<std::size_t>(*pairs, 1, kRequestPairs);
  }
  if (const auto bytes = found->find_count("message_bytes")) {
    // Something else is in a message, too.
    limits.bytes = *bytes - std::min<std::size_t>(*bytes / 2, kMessageRest);
  }
  return limits;
}

const RemoteStream& choose_stream(const std::vector<RemoteStream>& streams, const std::string& name,
                                  const std::string& endpoint) {
  if (name.empty() && streams.size() == 1) return streams.front();
  std::vector<std::string> names;
  for (const auto& stream : streams) {
    if (stream.name == name && !name.empty()) return stream;
    names.push_back(printable(stream.name));
  }
  throw Error(fmt::format("--stream: found {}, expected one of the streams of {}: {}",
                          name.empty() ? "none" : name, endpoint, fmt::join(names, ", ")));
}

std::vector<std::string> read_endpoints(const JsonObject& answer, std::string_view socket) {
  std::vector<std::string> endpoints;
  const auto all = answer.object("endpoints");
  const auto bound = all.find_array(socket);
  if (!bound) return endpoints;
  for (const auto element : *bound) endpoints.emplace_back(text_in(element, socket));
  return endpoints;
}

}  // namespace phsic
