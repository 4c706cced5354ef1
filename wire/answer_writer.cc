#include "wire/answer_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/model.h"
#include "wire/json_text.h"

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

// Nothing when there is no number.
void append_member(std::string& out, std::string_view name, std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return;
  fmt::format_to(std::back_inserter(out), ",\"{}\":{:.9g}", name, *value);
}

void append_problems(const Job& job, std::string& out) {
  if (job.problems.empty()) return;
  out += ",\"problems\":[";
  for (std::size_t i = 0; i < job.problems.size(); ++i) {
    const auto& [row, message] = job.problems[i];
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

void append_parts(std::string_view name, const std::vector<PairExplanation::Part>& parts,
                  std::string& out) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":[", name);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += ',';
    out += "{\"contribution\":";
    append_json_number(out, parts[i].contribution);
    out += ",\"x\":";
    append_json_text(out, parts[i].x);
    out += ",\"y\":";
    append_json_text(out, parts[i].y);
    fmt::format_to(std::back_inserter(out), ",\"number\":{}}}", parts[i].number);
  }
  out += ']';
}

}  // namespace

std::string error_reply(std::string_view id, std::string_view code, std::string_view message) {
  std::string out = "{\"ok\":false";
  if (!id.empty()) fmt::format_to(std::back_inserter(out), ",\"id\":{}", id);
  fmt::format_to(std::back_inserter(out), ",\"error\":{{\"code\":\"{}\",\"message\":", code);
  append_json_text(out, message);
  out += "}}";
  return out;
}

void begin_reply(std::string_view id, std::string& out) {
  out += "{\"ok\":true";
  if (!id.empty()) fmt::format_to(std::back_inserter(out), ",\"id\":{}", id);
}

void write_scores(Job& job, std::optional<std::size_t> until_refresh) {
  auto& out = job.reply;
  if (job.error) {
    out = error_reply(job.id, job.error->code(), job.error->what());
    return;
  }
  out.clear();
  begin_reply(job.id, out);
  if (job.scores) {
    append_list(out, "scores", job.score, append_json_number);
    if (job.operation == Operation::kRank) {
      append_ranking(job.score, out);
    } else if (job.published != nullptr && !job.published->calibration().is_empty()) {
      append_list(out, "percentiles", job.percentile, append_json_share);
      append_list(out, "p_values", job.p_value, append_json_share);
    }
    if (job.published != nullptr) append_model(*job.published, out);
  }
  if (job.learns) {
    fmt::format_to(std::back_inserter(out), ",\"learned\":{}", job.learned.load());
    if (until_refresh) {
      // Of the same meaning: `room` is its name up to 0.1.
      fmt::format_to(std::back_inserter(out), ",\"until_refresh\":{0},\"room\":{0}",
                     *until_refresh);
    }
    if (const auto duplicates = job.duplicates.load(); duplicates > 0) {
      fmt::format_to(std::back_inserter(out), ",\"duplicates\":{}", duplicates);
    }
    if (job.durable) out += ",\"durable\":true";
  }
  append_problems(job, out);
  out += '}';
}

void write_explanation(const PairExplanation& explanation, Job& job) {
  auto& out = job.reply;
  out.clear();
  begin_reply(job.id, out);
  out += ",\"score\":";
  append_json_number(out, explanation.score);
  out += ",\"rest\":";
  append_json_number(out, explanation.rest);
  append_model(*explanation.published, out);
  append_parts("raise", explanation.raise, out);
  append_parts("lower", explanation.lower, out);
  out += '}';
}

void append_published(const PublishedModel& published, std::string& out) {
  fmt::format_to(std::back_inserter(out), "\"model\":{},\"epoch\":{}", published.number,
                 published.epoch());
  if (published.model == nullptr) out += ",\"estimator\":\"pmi\"";
  if (published.model == nullptr || published.model->estimator() == nullptr) return;
  const auto& facts = published.model->facts();
  fmt::format_to(std::back_inserter(out), ",\"model_pairs\":{},\"estimator\":\"{}\"", facts.pairs,
                 name_of(published.model->estimator()->kind()));
  append_member(out, "effective_pairs", facts.effective_pairs);
  if (facts.ridge > 0) append_member(out, "ridge", facts.ridge);
  if (facts.accuracy) {
    append_member(out, "self_auc", facts.accuracy->auc);
    append_member(out, "self_mrr", facts.accuracy->mrr);
    append_member(out, "recall_at_1", facts.accuracy->recall_1);
  }
  append_member(out, "random_share", published.calibration().random_share());
  append_member(out, "hsic", facts.dependence.hsic);
  append_member(out, "cka", facts.dependence.cka);
  append_member(out, "p_value", facts.dependence.p_value);
  append_member(out, "refresh_seconds", published.seconds);
}

bool is_flagged(double p_value, double flag_p_value) {
  return flag_p_value > 0 && p_value >= flag_p_value;
}

void append_feed(Job& job, bool texts, double delay) {
  auto& out = job.feed;
  auto problem = job.problems.begin();
  for (std::size_t i = 0; i < job.pairs.size(); ++i) {
    if (!job.pairs.ids.empty() && !job.pairs.ids[i].empty()) {
      fmt::format_to(std::back_inserter(out), "\"id\":{},", job.pairs.ids[i]);
    }
    out += "\"score\":";
    append_json_number(out, job.score[i]);
    if (!std::isnan(job.percentile[i])) {
      fmt::format_to(std::back_inserter(out), ",\"percentile\":{:.6g},\"p_value\":{:.6g}",
                     job.percentile[i], job.p_value[i]);
    }
    append_model(*job.published, out);
    const bool has_time = !job.pairs.times.empty() && !std::isnan(job.pairs.times[i]);
    fmt::format_to(std::back_inserter(out), ",\"time\":{:.6f},\"delay\":{:.6f}",
                   has_time ? job.pairs.times[i] : job.arrival_time, delay);
    while (problem != job.problems.end() && problem->row < i) ++problem;
    if (problem != job.problems.end() && problem->row == i) {
      out += ",\"problem\":";
      append_json_text(out, problem->message);
    }
    if (texts && !job.pairs.are_vectors) {
      out += ",\"x\":";
      append_json_text(out, job.pairs.x[i]);
      out += ",\"y\":";
      append_json_text(out, job.pairs.y[i]);
    }
    out += '}';
    job.feed_ends.push_back(out.size());
  }
}

}  // namespace phsic
