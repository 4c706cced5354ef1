#include "decide/decide_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "decide/recent_pairs.h"
#include "engine/option_value.h"

namespace phsic {
namespace {

// Pairs of a higher quality are likelier good than damaged.
constexpr double kEvenQuality = 0.5;

void set_cut(DecideSpec& spec, CutSpec::Kind kind, double value) {
  if (spec.cut && spec.cut->kind != kind) {
    throw Error(fmt::format("found {} and {}, expected one of them", name_of(spec.cut->kind),
                            name_of(kind)));
  }
  spec.cut = {kind, value};
}

template <CutSpec::Kind kind>
void set_share(DecideSpec& spec, std::string_view text) {
  constexpr std::string_view kExpected = "a number from 0 to 1";
  const auto value = number_value(text, kExpected);
  if (value < 0 || value > 1) refuse_value(text, kExpected);
  set_cut(spec, kind, value);
}

void set_p(DecideSpec& spec, std::string_view text) {
  constexpr std::string_view kExpected = "a number above 0, up to 1";
  const auto value = number_value(text, kExpected);
  if (value <= 0 || value > 1) refuse_value(text, kExpected);
  set_cut(spec, CutSpec::Kind::kP, value);
}

void set_rate(DecideSpec& spec, std::string_view text) {
  constexpr std::string_view kExpected = "a number above 0 and below 1";
  const auto value = number_value(text, kExpected);
  if (value <= 0 || value >= 1) refuse_value(text, kExpected);
  set_cut(spec, CutSpec::Kind::kFdr, value);
}

void set_score(DecideSpec& spec, std::string_view text) {
  set_cut(spec, CutSpec::Kind::kScore, number_value(text, "a number"));
}

void set_quality(DecideSpec& spec, std::string_view text) {
  if (text == "auto") return set_cut(spec, CutSpec::Kind::kQuality, kEvenQuality);
  constexpr std::string_view kExpected = "a number from 0 to 1, or auto";
  const auto value = number_value(text, kExpected);
  if (value < 0 || value > 1) refuse_value(text, kExpected);
  set_cut(spec, CutSpec::Kind::kQuality, value);
}

void set_decider(DecideSpec& spec, std::string_view text) {
  if (text != "judge" && text != "score") refuse_value(text, "judge or score");
  spec.decides_by = text == "judge" ? Decider::kJudge : Decider::kScore;
}

// What is cut by where nothing else was asked for.
CutSpec usual_cut(const DecideSpec& spec, const StreamSpec& stream) {
  if (stream.counts) return {CutSpec::Kind::kNone, 0};
  const auto decider = spec.decides_by.value_or(stream.judges ? Decider::kJudge : Decider::kScore);
  return decider == Decider::kJudge ? CutSpec{CutSpec::Kind::kQuality, kEvenQuality} : CutSpec{};
}

void set_duplicates(DecideSpec& spec, std::string_view text) {
  if (text == "drop") {
    spec.duplicates = DuplicatePolicy::kDrop;
  } else if (text == "once") {
    spec.duplicates = DuplicatePolicy::kOnce;
  } else if (text == "learn") {
    spec.duplicates = DuplicatePolicy::kLearn;
  } else {
    refuse_value(text, "drop, once or learn");
  }
}

void set_undecided(DecideSpec& spec, std::string_view text) {
  if (text != "keep" && text != "reject") refuse_value(text, "keep or reject");
  spec.keeps_undecided = text == "keep";
}

constexpr DecideOption kOptions[] = {
    {"rules", "NAME,...", "default",
     "what no pair may break, whatever its score: default, hard (all), none, or names; -NAME takes "
     "one away",
     true, true,
     [](DecideSpec& spec, std::string_view text) { spec.rules = RuleSet::parse(text); }},
    {"duplicates", "NAME", "drop",
     "what becomes of pairs that came not long ago, or nearly so: drop, once (judged by their "
     "scores, learned once) or learn (pairs like any other)",
     true, true, set_duplicates},
    {"duplicate-window", "N", "131072", "pairs that are remembered to tell duplicates by; 0: none",
     false, true,
     [](DecideSpec& spec, std::string_view text) {
       spec.duplicate_window = whole_value<std::uint32_t>(
           text, 0, static_cast<std::uint32_t>(RecentPairs::kMaxCapacity));
     }},
    {"keep", "SHARE", "", "keeps this share of all pairs, those with the highest scores", true,
     true, set_share<CutSpec::Kind::kKeep>},
    {"p", "NUMBER", "0.05", "keeps pairs whose p-value against random pairing is at most this",
     true, true, set_p},
    {"fdr", "NUMBER", "",
     "keeps as many pairs as can be if this share of them, at most, may be random pairings", true,
     true, set_rate},
    {"percentile", "NUMBER", "", "keeps pairs that score above this share of recent ones", true,
     true, set_share<CutSpec::Kind::kPercentile>},
    {"score", "NUMBER", "",
     "keeps pairs with at least this raw score, which means another thing under each model", true,
     true, set_score},
    {"quality", "NUMBER|auto", "",
     "keeps pairs that are at least so likely to be good; auto: likelier good than damaged; needs "
     "`judge: true`",
     true, true, set_quality},
    {"decide-by", "NAME", "",
     "what decides where no cut is named: judge, as `quality: auto`, or score, as `p: 0.05` "
     "(default: judge where there is one)",
     true, true, set_decider},
    {"undecided", "NAME", "keep",
     "what becomes of pairs that nobody can judge, before the first model: keep or reject", true,
     false, set_undecided},
};

}  // namespace

void DecideSpec::set(std::string_view option, std::string_view value) {
  const auto* const found = find_decide_option(option);
  if (found == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& known : kOptions) names.push_back(known.name);
    throw Error(
        fmt::format("found the option {}, expected one of {}", option, fmt::join(names, ", ")));
  }
  try {
    found->set(*this, value);
  } catch (const Error& problem) {
    throw Error(fmt::format("{}: {}", option, problem.what()));
  }
}

DecidePlan plan_of(const DecideSpec& spec, const StreamSpec& stream) {
  DecidePlan plan;
  if (spec.rules) plan.rules = *spec.rules;
  if (!spec.rules && stream.learns_identical) plan.rules.set(*find_rule("no_identical"), false);
  for (const auto& rule : rule_table()) {
    const bool is_unknown = stream.counts && is_about_language(reason_of(rule, PairSide::kBoth));
    if (is_unknown) plan.rules.set(rule, false);
  }
  plan.duplicates = stream.counts ? DuplicatePolicy::kLearn : spec.duplicates;
  plan.duplicate_window = stream.counts ? 0 : spec.duplicate_window;
  if (stream.counts && spec.decides_by == Decider::kJudge) {
    throw Error("decide-by: found judge for a stream that counts (estimator pmi), expected score");
  }
  plan.cut = spec.cut.value_or(usual_cut(spec, stream));
  const bool is_by_quality = plan.cut.kind == CutSpec::Kind::kQuality;
  if (spec.decides_by && (*spec.decides_by == Decider::kJudge) != is_by_quality) {
    throw Error(fmt::format("decide-by: found {} and the cut {}, expected a cut that it decides by",
                            *spec.decides_by == Decider::kJudge ? "judge" : "score",
                            name_of(plan.cut.kind)));
  }
  const bool needs_models =
      plan.cut.kind != CutSpec::Kind::kNone && plan.cut.kind != CutSpec::Kind::kScore;
  if (stream.counts && needs_models) {
    throw Error(fmt::format("{}: estimator pmi has no calibration, expected score",
                            name_of(plan.cut.kind)));
  }
  if (is_by_quality && !stream.judges) {
    throw Error(
        fmt::format("{}: the stream has no judge, expected one; say `judge: true` (--judge true)",
                    spec.cut ? "quality" : "decide-by"));
  }
  plan.keeps_undecided = spec.keeps_undecided;
  return plan;
}

std::span<const DecideOption> decide_options() { return kOptions; }

const DecideOption* find_decide_option(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                         [&](const auto& known) { return known.name == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

bool is_cut_option(std::string_view name) {
  using Kind = CutSpec::Kind;
  constexpr Kind kCuts[] = {Kind::kKeep,       Kind::kP,     Kind::kFdr,
                            Kind::kPercentile, Kind::kScore, Kind::kQuality};
  return std::any_of(std::begin(kCuts), std::end(kCuts),
                     [&](Kind kind) { return name_of(kind) == name; });
}

std::string decide_notation(const DecideOption& option, const YamlNode& value) {
  using Kind = YamlNode::Kind;
  const bool takes_list = option.name == "rules";
  if (value.kind == Kind::kText) return value.text;
  if (value.kind != Kind::kList || !takes_list) {
    throw Error(fmt::format("found {}, expected a text{}", value.describe(),
                            takes_list ? " or a list of texts" : ""));
  }
  std::vector<std::string_view> names;
  for (const auto& item : value.items) {
    if (item.kind != Kind::kText) {
      throw Error(fmt::format("found {}, expected a name in the list", item.describe()));
    }
    names.push_back(item.text);
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ","));
}

std::string_view advice_for(std::string_view name) {
  return name == "flag-p-value" ? "found an option of earlier versions, expected p: write `p: "
                                  "VALUE` instead (as a flag `--p VALUE`), or `p: 1` for 0 "
                                  "(docs/filtering.md)"
                                : "";
}

}  // namespace phsic
