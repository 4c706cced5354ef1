#include "wire/statistics.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "core/model.h"
#include "engine/batch.h"
#include "engine/judge.h"
#include "engine/stream_facts.h"
#include "wire/json_text.h"

namespace phsic {
namespace {

constexpr auto kCounter = Statistic::Kind::kCounter;
constexpr auto kGauge = Statistic::Kind::kGauge;

// Nothing when there is no number.
void add(Statistics& to, std::string_view name, std::optional<double> value, std::string_view help,
         Unit unit = Unit::kNone) {
  if (value && std::isfinite(*value)) to.push_back({name, kGauge, unit, help, *value});
}

struct AppendValue {
  std::string& out;

  void operator()(std::uint64_t value) const {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
  void operator()(double value) const {
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(out), "{:.9g}", value);
    } else {
      out += "null";
    }
  }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(const std::string& value) const { append_json_text(out, value); }
  void operator()(const LabelledCounts& value) const {
    out += '{';
    for (const auto& [label, count] : value.counts) {
      if (out.back() != '{') out += ',';
      append_json_text(out, label);
      fmt::format_to(std::back_inserter(out), ":{}", count);
    }
    out += '}';
  }
  void operator()(const LabelledNumbers& value) const {
    out += '{';
    for (const auto& [label, number] : value.numbers) {
      if (out.back() != '{') out += ',';
      append_json_text(out, label);
      out += ':';
      (*this)(number);
    }
    out += '}';
  }
  void operator()(const Quantiles& value) const {
    fmt::format_to(std::back_inserter(out),
                   "{{\"p50\":{:.3g},\"p90\":{:.3g},\"p99\":{:.3g},\"max\":{:.3g}}}", value.p50,
                   value.p90, value.p99, value.max);
  }
};

// What several views have come to. What is not known of one is left out.
void add_views(Statistics& to, const PublishedModel& published) {
  LabelledNumbers weights{"view", {}};
  LabelledNumbers aucs{"view", {}};
  for (const auto& view : views_of(published)) {
    weights.numbers[view.name] = view.weight;
    if (view.accuracy) aucs.numbers[view.name] = view.accuracy->auc;
  }
  if (weights.numbers.empty()) return;
  to.push_back({"view_weights", kGauge, Unit::kNone, "how much each view counts", weights});
  to.push_back({"view_self_aucs", kGauge, Unit::kNone, "self_auc of each view by itself", aucs});
}

// What a judge has found the stream to suffer from.
void add_judge(Statistics& to, const PublishedModel& published) {
  const auto damage = damage_of(published);
  if (!damage) return;
  LabelledNumbers kinds{"kind", {}};
  for (const auto& [name, share] : damage->kinds) kinds.numbers[name] = share;
  add(to, "junk_share", damage->junk_share, "estimated share of damaged pairs");
  to.push_back({"quality_trusted", kGauge, Unit::kNone,
                "whether there is little enough damage for quality to be right",
                damage->is_trusted()});
  to.push_back({"damage", kGauge, Unit::kNone, "estimated share of each kind of damage", kinds});
  const auto& fitted = published.judge->fitted();
  to.push_back({"judge_pairs", kGauge, Unit::kPairs, "held-back pairs that the judge was fitted to",
                fitted.pairs});
  to.push_back({"judge_sampled", kGauge, Unit::kNone,
                "whether there were more, of which it has seen a sample", fitted.is_sampled});
}

// Of all statistics, by name. A name has the same unit in each table.
std::map<std::string_view, Unit> all_units() {
  // These are known only where there is a model, and here is none.
  std::map<std::string_view, Unit> units = {{"refresh_seconds", Unit::kSeconds},
                                            {"model_pairs", Unit::kPairs},
                                            {"judge_pairs", Unit::kPairs},
                                            {"effective_pairs", Unit::kPairs}};
  StreamStatistics stream;
  stream.kept = StreamStatistics::Kept{};
  for (const auto& all : {stream.list(), DaemonStatistics().list(), StateStatistics().list()}) {
    for (const auto& statistic : all) units.emplace(statistic.name, statistic.unit);
  }
  return units;
}

}  // namespace

Statistics model_statistics(const PublishedModel& published) {
  Statistics all = {
      {"model", kCounter, Unit::kNone, "the number of the model in use", published.number},
      {"epoch", kCounter, Unit::kNone, "how often its pivots have changed", published.epoch()}};
  const auto* facts = published.facts();
  const auto estimator = published.estimator();
  const auto add_estimator = [&] {
    all.push_back({"estimator", kGauge, Unit::kNone, "what scores are made by", estimator});
  };
  if (facts == nullptr) add_estimator();
  add(all, "cut", published.cut, "the lowest score that is kept");
  add_views(all, published);
  if (facts == nullptr || estimator.empty()) return all;
  all.push_back({"model_pairs", kGauge, Unit::kPairs, "pairs that it was built of", facts->pairs});
  add_estimator();
  add(all, "effective_pairs", facts->effective_pairs, "as how many pairs they count", Unit::kPairs);
  if (facts->ridge > 0) add(all, "ridge", facts->ridge, "of the covariances");
  if (facts->accuracy) {
    add(all, "self_auc", facts->accuracy->auc, "held-back pairs against exchanged ones");
    add(all, "self_mrr", facts->accuracy->mrr, "mean reciprocal rank among exchanged ones");
    add(all, "recall_at_1", facts->accuracy->recall_1, "share ranked first among exchanged ones");
  }
  add(all, "random_share", published.calibration().random_share(),
      "estimated share of random pairings");
  add_judge(all, published);
  add(all, "hsic", facts->dependence.hsic, "dependence of the stream");
  add(all, "cka", facts->dependence.cka, "the same, between 0 and 1");
  add(all, "p_value", facts->dependence.p_value, "of that dependence");
  add(all, "refresh_seconds", published.seconds, "that building it took", Unit::kSeconds);
  return all;
}

Statistics StreamStatistics::list() const {
  Statistics all = {
      {"pairs", kCounter, Unit::kPairs, "learned", pairs},
      {"refused", kCounter, Unit::kPairs, "of no use to learn from", refused},
      {"unlearned", kGauge, Unit::kPairs, "accepted and not learned yet", unlearned},
      {"unlearned_bytes", kGauge, Unit::kBytes, "what those and their requests take",
       unlearned_bytes},
      {"scored", kCounter, Unit::kPairs, "scored", scored},
      {"ranked", kCounter, Unit::kPairs, "candidates ranked", ranked},
      {"kept", kCounter, Unit::kPairs, "decided to be kept, or only taught", decisions.kept},
      {"flagged", kCounter, Unit::kPairs, "dropped", decisions.dropped},
      {"undecided", kCounter, Unit::kPairs, "that nobody could decide about", decisions.undecided},
      {"not_learned", kCounter, Unit::kPairs, "a rule, or a duplicate of a recent pair",
       decisions.not_learned},
      {"reasons", kCounter, Unit::kPairs, "for decisions, by name",
       LabelledCounts{"reason", decisions.reasons}},
      {"problems", kCounter, Unit::kPairs, "that could not be scored", problems},
      {"refreshes", kCounter, Unit::kNone, "models built, or given up", refreshes},
      {"drifts", kCounter, Unit::kNone, "drift alarms", drifts},
      {"drift_p_value", kGauge, Unit::kNone, "of the last look for drift", drift_p_value},
      {"queue", kGauge, Unit::kPairs, "that wait to be scored", queue},
      {"queue_bytes", kGauge, Unit::kBytes, "that wait to be scored", queue_bytes},
      {"overloaded", kCounter, Unit::kRequests, "refused because too much waited", overloaded},
      {"failed", kCounter, Unit::kRequests, "that the encoder, or memory, failed on", failed},
      {"duplicates", kCounter, Unit::kPairs, "of known ids, and not learned again", duplicates},
      {"clipped", kCounter, Unit::kNone, "vectors shortened, being far too long", clipped},
      {"ahead", kCounter, Unit::kPairs, "whose time was too far ahead", ahead}};
  if (kept) {
    all.push_back(
        {"keeping", kGauge, Unit::kNone, "whether what is learned is kept", kept->is_keeping});
    all.push_back({"snapshots", kCounter, Unit::kNone, "written", kept->snapshots});
    all.push_back({"recovered", kGauge, Unit::kPairs, "found at the start", kept->recovered});
    all.push_back({"lost", kGauge, Unit::kPairs, "found damaged at the start", kept->lost});
  }
  if (published != nullptr) {
    auto model = model_statistics(*published);
    all.insert(all.end(), std::move_iterator(model.begin()), std::move_iterator(model.end()));
  }
  all.push_back(
      {"latency", kGauge, Unit::kSeconds, "from arrival to answer, of the last minute", latency});
  return all;
}

Statistics DaemonStatistics::list() const {
  return {
      {"version", kGauge, Unit::kNone, "of the daemon", version},
      {"pid", kGauge, Unit::kNone, "its process", pid},
      {"uptime", kGauge, Unit::kSeconds, "since it was started", uptime},
      {"memory", kGauge, Unit::kBytes, "resident", memory},
      {"requests", kCounter, Unit::kRequests, "that came", requests},
      {"replies", kCounter, Unit::kRequests, "that were answered", replies},
      {"bad_requests", kCounter, Unit::kRequests, "that could never be served as they were",
       bad_requests},
      {"lost_replies", kCounter, Unit::kRequests, "whose client was gone or did not read",
       lost_replies},
      {"messages", kCounter, Unit::kMessages, "of sources", messages},
      {"bad_messages", kCounter, Unit::kMessages, "of sources that could not be read",
       bad_messages},
      {"passed_over", kCounter, Unit::kMessages,
       "of other daemons' feeds that were not to be learned", passed_over},
      {"stalled", kCounter, Unit::kNone, "how often a source had to wait for a stream", stalled},
      {"published", kCounter, Unit::kMessages, "on the feed", published},
      {"left_out", kCounter, Unit::kMessages, "of the feed because too much was unread", left_out},
      {"closed", kCounter, Unit::kNone, "connections beyond a limit", closed},
      {"reloads", kCounter, Unit::kNone, "of the configuration", reloads},
      {"refused_reloads", kCounter, Unit::kNone, "of the configuration", refused_reloads}};
}

Statistics StateStatistics::list() const {
  Statistics all = {{"file", kGauge, Unit::kNone, "where it is", file},
                    {"keeping", kGauge, Unit::kNone, "whether what is learned is kept", is_keeping},
                    {"commits", kCounter, Unit::kNone, "written", commits},
                    {"bytes", kCounter, Unit::kBytes, "written into the journal", bytes},
                    {"failures", kCounter, Unit::kNone, "of writing", failures},
                    {"log_bytes", kGauge, Unit::kBytes,
                     "that wait in SQLite's log because somebody reads", log_bytes}};
  if (!problem.empty()) {
    all.push_back({"problem", kGauge, Unit::kNone, "why it is not kept", problem});
  }
  return all;
}

void append_statistics(const Statistics& statistics, std::string& out) {
  bool is_first = true;
  for (const auto& statistic : statistics) {
    if (!is_first) out += ',';
    is_first = false;
    append_json_text(out, statistic.name);
    out += ':';
    std::visit(AppendValue{out}, statistic.value);
  }
}

Unit unit_of_statistic(std::string_view name) {
  static const auto kUnits = all_units();
  const auto found = kUnits.find(name);
  return found == kUnits.end() ? Unit::kNone : found->second;
}

}  // namespace phsic
