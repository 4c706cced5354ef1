#include "wire/feed_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "wire/decision_json.h"
#include "wire/json_text.h"
#include "wire/statistics.h"

namespace phsic {
namespace {

struct AppendEvent {
  std::string& out;

  void operator()(const RefreshEvent& event) const {
    out += "\"event\":\"refresh\",";
    append_statistics(model_statistics(*event.published), out);
    fmt::format_to(std::back_inserter(out), ",\"pairs\":{}", event.pairs);
  }
  void operator()(const DriftEvent& event) const {
    fmt::format_to(std::back_inserter(out),
                   "\"event\":\"drift\",\"p_value\":{:.6g},\"pairs\":{},\"model\":{},\"epoch\":{}",
                   event.p_value, event.pairs, event.model, event.epoch);
  }
  void operator()(const FailureEvent& event) const {
    out += "\"event\":\"failure\",\"message\":";
    append_json_text(out, event.message);
  }
  void operator()(const OverloadEvent& event) const {
    // Both mean the same: `shed` was the name up to 0.1.
    fmt::format_to(std::back_inserter(out),
                   "\"event\":\"overload\",\"overloaded\":{0},\"shed\":{0}", event.requests);
  }
  void operator()(const StateEvent& event) const {
    fmt::format_to(std::back_inserter(out), "\"event\":\"state\",\"keeping\":{}", event.is_keeping);
    if (event.log_bytes) {
      fmt::format_to(std::back_inserter(out), ",\"log_bytes\":{}", *event.log_bytes);
    }
    out += ",\"message\":";
    append_json_text(out, event.message);
  }
};

}  // namespace

std::string event_json(const StreamEvent& event) {
  std::string out;
  std::visit(AppendEvent{out}, event);
  out += '}';
  return out;
}

FeedMessages::FeedMessages(const Request& request, const Outcome& outcome, bool texts,
                           double delay) {
  const auto& pairs = request.pairs;
  auto& out = bytes_;
  auto problem = outcome.problems.begin();
  ends_.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!pairs.ids.empty() && !pairs.ids[i].empty()) {
      fmt::format_to(std::back_inserter(out), "\"id\":{},", pairs.ids[i]);
    }
    // What can be compared between models comes first.
    if (!outcome.quality.empty() && !std::isnan(outcome.quality[i])) {
      fmt::format_to(std::back_inserter(out), "\"quality\":{:.6g},",
                     quality_of(outcome.decision(i), outcome.quality[i]));
    }
    if (!std::isnan(outcome.percentile[i])) {
      fmt::format_to(std::back_inserter(out), "\"percentile\":{:.6g},\"p_value\":{:.6g},",
                     outcome.percentile[i], outcome.p_value[i]);
    }
    append_decision(outcome.decision(i), out);
    out += ",\"score\":";
    append_json_number(out, outcome.score[i]);
    fmt::format_to(std::back_inserter(out), ",\"model\":{},\"epoch\":{}", outcome.published->number,
                   outcome.published->epoch());
    const bool has_time = !pairs.times.empty() && !std::isnan(pairs.times[i]);
    fmt::format_to(std::back_inserter(out), ",\"time\":{:.6f},\"delay\":{:.6f}",
                   has_time ? pairs.times[i] : request.arrival_time, delay);
    while (problem != outcome.problems.end() && problem->row < i) ++problem;
    if (problem != outcome.problems.end() && problem->row == i) {
      out += ",\"problem\":";
      append_json_text(out, problem->message);
    }
    if (texts && !pairs.are_vectors) {
      out += ",\"x\":";
      append_json_text(out, pairs.x[i]);
      out += ",\"y\":";
      append_json_text(out, pairs.y[i]);
    }
    out += '}';
    ends_.push_back(out.size());
  }
}

}  // namespace phsic
