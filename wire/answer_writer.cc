#include "wire/answer_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <variant>

#include "core/calibration.h"
#include "engine/damage.h"
#include "wire/decision_json.h"
#include "wire/explanation_json.h"
#include "wire/facts.h"
#include "wire/json_text.h"
#include "wire/statistics.h"

namespace phsic {
namespace {

template <class Append>
void append_list(std::string& out, std::string_view name, const std::vector<double>& values,
                 const Append& append) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":[", name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append(out, values[i]);
  }
  out += ']';
}

void append_problems(const std::vector<PairProblem>& problems, std::string& out) {
  if (problems.empty()) return;
  out += ",\"problems\":[";
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto& [row, message] = problems[i];
    if (i > 0) out += ',';
    if (row == PairProblem::kNoRow) {
      out += "{\"message\":";
    } else {
      fmt::format_to(std::back_inserter(out), "{{\"pair\":{},\"message\":", row);
    }
    append_json_text(out, message);
    out += '}';
  }
  out += ']';
}

void append_left_out(const std::vector<LeftOut>& all, std::string& out) {
  if (all.empty()) return;
  out += ",\"left_out\":[";
  for (std::size_t i = 0; i < all.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}{{\"pair\":{},\"view\":", i > 0 ? "," : "",
                   all[i].row);
    append_json_text(out, all[i].view);
    out += ",\"message\":";
    append_json_text(out, all[i].message);
    out += '}';
  }
  out += ']';
}

void append_model(const PublishedModel& published, std::string& out) {
  fmt::format_to(std::back_inserter(out), ",\"model\":{},\"epoch\":{}", published.number,
                 published.epoch());
}

void append_ranking(const std::vector<double>& scores, std::string& out) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (std::isnan(scores[a]) || std::isnan(scores[b]))
      return !std::isnan(scores[a]) && std::isnan(scores[b]);
    return scores[a] > scores[b];
  });
  out += ",\"ranking\":[";
  for (std::size_t k = 0; k < order.size(); ++k) {
    fmt::format_to(std::back_inserter(out), "{}{}", k > 0 ? "," : "", order[k]);
  }
  out += ']';
}

// What is not known is left out, but for the decision's reason.
void append_numbers(double percentile, double p_value, const Decision& decision, std::string& out) {
  if (!std::isnan(percentile)) {
    fmt::format_to(std::back_inserter(out), "\"percentile\":{:.6g},\"p_value\":{:.6g},", percentile,
                   p_value);
  }
  append_decision(decision, out);
}

void append_dropped(const DroppedPair& dropped, std::string& out) {
  fmt::format_to(std::back_inserter(out), ",\"dropped\":{{\"id\":{},", dropped.id);
  append_numbers(dropped.percentile, dropped.p_value, dropped.decision, out);
  out += ",\"score\":";
  append_json_number(out, dropped.score);
  fmt::format_to(std::back_inserter(out), ",\"model\":{},\"epoch\":{},\"time\":{:.6f}",
                 dropped.model, dropped.epoch, dropped.time);
  if (!dropped.are_vectors) {
    out += ",\"x\":";
    append_json_text(out, dropped.x);
    out += ",\"y\":";
    append_json_text(out, dropped.y);
    if (dropped.is_shortened) out += ",\"shortened\":true";
  }
  out += '}';
}

void append_judgement(const Judgement& judgement, const Decision& decision, std::string& out) {
  out += ",\"quality\":";
  append_json_share(out, quality_of(decision, judgement.quality));
  out += ",\"damage\":";
  append_json_text(out, damage_kinds()[judgement.kind].name);
}

void append_explanation(const PairExplanation& explanation, const Outcome& outcome,
                        std::string& out) {
  out += ',';
  append_numbers(outcome.percentile[0], outcome.p_value[0], outcome.decision(0), out);
  if (explanation.judgement) append_judgement(*explanation.judgement, outcome.decision(0), out);
  out += ",\"score\":";
  append_json_number(out, explanation.score);
  out += ",\"rest\":";
  append_json_number(out, explanation.rest);
  append_model(*explanation.published, out);
  append_grounds(explanation, out);
}

void append_qualities(const Outcome& outcome, std::string& out) {
  out += ",\"qualities\":[";
  for (std::size_t i = 0; i < outcome.quality.size(); ++i) {
    if (i > 0) out += ',';
    const bool is_decided = !outcome.verdict.empty();
    append_json_share(
        out, is_decided ? quality_of(outcome.decision(i), outcome.quality[i]) : outcome.quality[i]);
  }
  out += ']';
}

void append_decisions(const Outcome& outcome, std::string& out) {
  const auto rows = outcome.verdict.size();
  out += ",\"decisions\":[";
  for (std::size_t i = 0; i < rows; ++i) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\"", i > 0 ? "," : "",
                   name_of(outcome.decision(i).verdict));
  }
  out += "],\"reasons\":[";
  for (std::size_t i = 0; i < rows; ++i) {
    if (i > 0) out += ',';
    append_reason(outcome.reason[i], out);
  }
  out += ']';
}

void append_learned(const Outcome& outcome, std::string& out) {
  fmt::format_to(std::back_inserter(out), ",\"learned\":{}", outcome.learned);
  if (outcome.until_refresh) {
    // Of the same meaning: `room` is its name up to 0.1.
    fmt::format_to(std::back_inserter(out), ",\"until_refresh\":{0},\"room\":{0}",
                   *outcome.until_refresh);
  }
  if (outcome.duplicates > 0) {
    fmt::format_to(std::back_inserter(out), ",\"duplicates\":{}", outcome.duplicates);
  }
  fmt::format_to(std::back_inserter(out), ",\"not_learned\":{}", outcome.not_learned);
  if (outcome.is_durable) out += ",\"durable\":true";
}

void append_refresh(const Outcome& outcome, std::string& out) {
  out += ',';
  append_statistics(model_statistics(*outcome.published), out);
  fmt::format_to(std::back_inserter(out), ",\"pairs\":{}", outcome.pairs);
}

}  // namespace

std::string error_answer(std::string_view id, std::string_view code, std::string_view message) {
  std::string out = "{\"ok\":false";
  if (!id.empty()) fmt::format_to(std::back_inserter(out), ",\"id\":{}", id);
  fmt::format_to(std::back_inserter(out), ",\"error\":{{\"code\":\"{}\",\"message\":", code);
  append_json_text(out, message);
  out += "}}";
  return out;
}

void begin_answer(std::string_view id, std::string& out) {
  out += "{\"ok\":true";
  if (!id.empty()) fmt::format_to(std::back_inserter(out), ",\"id\":{}", id);
}

std::string scores_json(const Request& request, const Outcome& outcome) {
  std::string out;
  if (!request.scores || outcome.error) return out;
  append_list(out, "scores", outcome.score, append_json_number);
  if (request.operation == Operation::kRank) {
    append_ranking(outcome.score, out);
  } else if (outcome.published != nullptr && !outcome.published->calibration().is_empty()) {
    append_list(out, "percentiles", outcome.percentile, append_json_share);
    append_list(out, "p_values", outcome.p_value, append_json_share);
    if (outcome.published->judge != nullptr) append_qualities(outcome, out);
  }
  if (request.operation == Operation::kScore) append_decisions(outcome, out);
  if (outcome.published != nullptr) append_model(*outcome.published, out);
  return out;
}

std::string answer_json(const Request& request, const Outcome& outcome, std::string_view scores) {
  if (outcome.error) return error_answer(request.id, outcome.error->code(), outcome.error->what());
  std::string out;
  out.reserve(scores.size() + 256);
  begin_answer(request.id, out);
  if (!std::holds_alternative<std::monostate>(outcome.facts)) {
    out += facts_json(outcome.facts);
  } else if (request.operation == Operation::kExplain) {
    if (outcome.dropped) append_dropped(*outcome.dropped, out);
    if (outcome.explanation) append_explanation(*outcome.explanation, outcome, out);
  } else if (request.operation == Operation::kRefresh) {
    append_refresh(outcome, out);
  } else if (request.operation == Operation::kSnapshot) {
    fmt::format_to(std::back_inserter(out), ",\"pairs\":{},\"bytes\":{}", outcome.pairs,
                   outcome.snapshot_bytes);
  } else {
    out += scores;
    if (request.learns) append_learned(outcome, out);
    append_problems(outcome.problems, out);
    append_left_out(outcome.left_out, out);
  }
  out += '}';
  return out;
}

}  // namespace phsic
