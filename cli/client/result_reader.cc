#include "cli/client/result_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "wire/answer_reader.h"

namespace phsic {
namespace {

namespace dom = simdjson::dom;

// Not a rejection: whether the daemon scored the pair is told by its score.
constexpr ReasonCode kUnknownReason = reasons::kFirstRule - 1;

std::optional<dom::array> find_list(const JsonObject& answer, std::string_view name,
                                    std::size_t count) {
  const auto list = answer.find_array(name);
  if (list && list->size() != count) {
    refuse_member(name, fmt::format("{} long", list->size()), fmt::format("{}", count));
  }
  return list;
}

// Numbers, or null where there is none.
void read_numbers(const JsonObject& answer, std::string_view name, std::size_t count,
                  double* numbers) {
  const auto list = find_list(answer, name, count);
  if (!list) return;
  for (const auto element : *list) {
    double& number = *numbers++;
    if (element.is_null()) continue;
    if (element.get(number) != simdjson::SUCCESS) {
      refuse_member(name, describe(element.type()), "an array of numbers");
    }
  }
}

std::string_view text_or_nothing(const dom::element& element, std::string_view name) {
  std::string_view text;
  if (!element.is_null() && element.get(text) != simdjson::SUCCESS) {
    refuse_member(name, describe(element.type()), "an array of texts");
  }
  return text;
}

Verdict verdict_of(std::string_view name) {
  for (const auto verdict : {Verdict::kKeep, Verdict::kDrop, Verdict::kUndecided}) {
    if (name == name_of(verdict)) return verdict;
  }
  refuse_member("decisions", fmt::format("\"{}\"", name.substr(0, 40)), "keep, drop or undecided");
}

// A later daemon may have reasons that nobody here knows.
ReasonCode code_of_reason(std::string_view name) {
  static const auto kCodes = [] {
    std::map<std::string_view, ReasonCode> codes;
    constexpr unsigned kMostCodes = 256;
    for (unsigned code = 0; code < kMostCodes; ++code) {
      const auto reason = static_cast<ReasonCode>(code);
      if (is_reason(reason)) codes.try_emplace(name_of_reason(reason), reason);
    }
    return codes;
  }();
  const auto found = kCodes.find(name);
  return found == kCodes.end() ? kUnknownReason : found->second;
}

void read_decisions(const JsonObject& answer, std::size_t first, std::size_t count,
                    PairResults& results) {
  const auto verdicts = find_list(answer, "decisions", count);
  if (!verdicts) results.decisions.clear();
  if (results.decisions.empty()) return;
  auto row = first;
  for (const auto element : *verdicts) {
    results.decisions[row++] = {verdict_of(text_or_nothing(element, "decisions")), reasons::kNone};
  }
  const auto reasons = find_list(answer, "reasons", count);
  if (!reasons) return;
  row = first;
  for (const auto element : *reasons) {
    results.decisions[row++].reason = code_of_reason(text_or_nothing(element, "reasons"));
  }
}

}  // namespace

void read_left_out(const JsonObject& answer, std::size_t first, std::size_t count,
                   std::vector<LeftOut>& left_out) {
  const auto list = answer.find_array("left_out");
  if (!list) return;
  for (const auto element : *list) {
    dom::object members;
    if (element.get(members) != simdjson::SUCCESS) {
      refuse_member("left_out", describe(element.type()), "an array of objects");
    }
    const JsonObject one(members);
    const auto row = one.count("pair");
    if (row >= count) {
      refuse_member("left_out", fmt::format("pair {}", row), fmt::format("less than {}", count));
    }
    left_out.push_back({first + row, std::string(one.text("view")),
                        std::string(one.find_text("message").value_or(""))});
  }
}

void read_results(const JsonObject& answer, std::size_t first, std::size_t count,
                  PairResults& results) {
  read_scores(answer, first, count, results.scores.data() + first, results.problems);
  read_numbers(answer, "percentiles", count, results.percentiles.data() + first);
  read_numbers(answer, "p_values", count, results.p_values.data() + first);
  read_numbers(answer, "qualities", count, results.qualities.data() + first);
  read_decisions(answer, first, count, results);
  read_left_out(answer, first, count, results.left_out);
}

}  // namespace phsic
