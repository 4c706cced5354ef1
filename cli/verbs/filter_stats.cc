#include "cli/verbs/filter_stats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/session/describe_damage.h"
#include "cli/session/describe_views.h"

namespace phsic {
namespace {

using FilterJson = nlohmann::ordered_json;

// A stream that tells matched pairs from exchanged ones no better than this has learned next to
// nothing.
constexpr double kHardlyDependent = 0.6;
// An input of which more than this looks random is not what the model knows.
constexpr double kMostlyRandom = 0.8;
// Fewer pairs judged say nothing of the others.
constexpr std::uint64_t kFewestToTell = 100;

FilterJson json_number(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? FilterJson(*number) : FilterJson();
}

// Most frequent first.
std::vector<std::pair<std::string, std::uint64_t>> by_count(
    const std::map<ReasonCode, std::uint64_t>& reasons) {
  std::vector<std::pair<std::string, std::uint64_t>> list;
  list.reserve(reasons.size());
  for (const auto& [reason, count] : reasons) list.emplace_back(name_of_reason(reason), count);
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

}  // namespace

void FilterStats::add(const Decision& decision, bool is_kept, double p_value) {
  ++lines_;
  if (is_kept) ++kept_;
  if (decision.reason == reasons::kBadLine) {
    ++bad_lines_;
  } else {
    ++verdicts_[static_cast<std::size_t>(decision.verdict)];
  }
  if (!is_kept) ++reasons_[decision.reason];
  const bool is_judged = decision.verdict != Verdict::kUndecided && !is_rejection(decision.reason);
  if (!is_judged || std::isnan(p_value)) return;
  ++judged_;
  if (p_value > 0.5) ++above_half_;
  if (decision.verdict == Verdict::kDrop) ++cut_;
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end() - 1, p_value);
  ++p_values_[static_cast<std::size_t>(bound - kBounds.begin())];
}

FilterStats::Facts FilterStats::facts_of(const Session& session) {
  Facts facts;
  facts.cut = describe_cut(session.plan().cut);
  const auto stream = session.facts();
  facts.estimator = stream.estimator;
  if (stream.accuracy) facts.self_auc = stream.accuracy->auc;
  facts.views = stream.views;
  facts.damage = stream.damage;
  facts.has_no_judge =
      !facts.damage && facts.self_auc && session.plan().cut.kind == CutSpec::Kind::kQuality;
  const auto& calibration = session.calibration();
  const auto& cut = session.plan().cut;
  const auto floor = calibration.p_value(std::numeric_limits<double>::infinity());
  if (cut.kind == CutSpec::Kind::kP) {
    facts.p_at_cut = std::max(cut.value, floor.value_or(0));
    if (*facts.p_at_cut > cut.value) facts.floor = floor;
  } else if (const auto lowest = session.cut(); lowest && cut.kind != CutSpec::Kind::kQuality) {
    facts.p_at_cut = calibration.p_value(*lowest);
  }
  return facts;
}

std::optional<double> FilterStats::random_share() const {
  if (judged_ < kFewestToTell) return std::nullopt;
  return std::min(1.0, 2 * static_cast<double>(above_half_) / static_cast<double>(judged_));
}

std::optional<double> FilterStats::good_lost(const Facts& facts) const {
  const auto random = random_share();
  if (!random || *random >= 1 || !facts.p_at_cut) return std::nullopt;
  const double dropped = static_cast<double>(cut_) / static_cast<double>(judged_);
  return std::clamp((dropped - *random * (1 - *facts.p_at_cut)) / (1 - *random), 0.0, 1.0);
}

double FilterStats::share_kept() const {
  return lines_ > 0 ? static_cast<double>(kept_) / static_cast<double>(lines_) : 0;
}

std::uint64_t FilterStats::count_of(ReasonCode reason) const {
  const auto found = reasons_.find(reason);
  return found == reasons_.end() ? 0 : found->second;
}

std::string FilterStats::json(const Facts& facts) const {
  FilterJson out;
  out["lines"] = lines_;
  out["kept"] = kept_;
  out["share_kept"] = share_kept();
  out["bad_lines"] = bad_lines_;
  auto& decisions = out["decisions"];
  for (const auto verdict : {Verdict::kKeep, Verdict::kDrop, Verdict::kUndecided}) {
    decisions[name_of(verdict)] = verdicts_[static_cast<std::size_t>(verdict)];
  }
  auto& reasons = out["reasons"] = FilterJson::object();
  for (const auto& [name, count] : by_count(reasons_)) reasons[name] = count;
  out["cut"] = facts.cut;
  out["estimator"] = facts.estimator;
  out["self_auc"] = json_number(facts.self_auc);
  if (!facts.views.empty()) out["views"] = views_json(facts.views);
  if (facts.damage) add_damage(*facts.damage, out);
  out["random_share"] = json_number(random_share());
  out["good_lost_estimate"] = json_number(good_lost(facts));
  auto& p_values = out["p_values"] = FilterJson::array();
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    p_values.push_back({{"up_to", kBounds[i]}, {"pairs", p_values_[i]}});
  }
  return out.dump(2, ' ', false, FilterJson::error_handler_t::replace) + '\n';
}

std::string FilterStats::summary(const Facts& facts) const {
  auto text =
      fmt::format("phsic: kept {} of {} lines ({:.1f}%)", kept_, lines_, 100 * share_kept());
  if (const auto count = verdicts_[static_cast<std::size_t>(Verdict::kUndecided)]; count > 0) {
    text += fmt::format(", undecided {}", count);
  }
  text += '\n';
  for (const auto& [name, count] : by_count(reasons_)) {
    text += fmt::format("phsic: {:>10}  {}\n", count, name);
  }
  text += fmt::format("phsic: cut {}", facts.cut);
  if (facts.self_auc) text += fmt::format(", self-AUC {:.4f}", *facts.self_auc);
  const auto random = random_share();
  if (random) text += fmt::format(", {:.0f}% look like random pairings", 100 * *random);
  if (const auto lost = good_lost(facts)) {
    text += fmt::format(", about {:.0f}% of the others are cut", 100 * *lost);
  }
  text += '\n';
  if (facts.damage) {
    text += fmt::format("phsic: {}\n", describe_damage(*facts.damage));
    const auto doubt = describe_doubt(*facts.damage);
    if (!doubt.empty()) text += fmt::format("phsic: {}\n", doubt);
  }
  if (!facts.views.empty()) text += fmt::format("phsic: views {}\n", describe_views(facts.views));
  if (facts.has_no_judge) {
    text += fmt::format(
        "phsic: no judge could be fitted to so few held-back pairs: {} was decided by p {:g}\n",
        facts.cut, CutSpec().value);
  }
  const bool learned_nothing = facts.self_auc.value_or(1) < kHardlyDependent;
  if (learned_nothing || random.value_or(0) > kMostlyRandom) {
    text +=
        "phsic: x and y hardly depend on each other. Are these the right columns, the right way "
        "round, and the lines of both sides aligned?\n";
  }
  const auto duplicates = count_of(reasons::kDuplicate) + count_of(reasons::kNearDuplicate);
  if (facts.teaches_daemon && 2 * duplicates > lines_) {
    text +=
        "phsic: the stream has learned these pairs already; --no-learn judges them by their "
        "scores\n";
  }
  if (facts.floor) {
    text += fmt::format(
        "phsic: {} is less than can be counted here, and was taken for {:.2g}, the smallest "
        "p-value there is\n",
        facts.cut, *facts.floor);
  }
  return text;
}

std::string FilterStats::histogram() const {
  const auto most = *std::max_element(p_values_.begin(), p_values_.end());
  if (most == 0) return {};
  constexpr double kWidth = 50;
  std::string text = "p-value      pairs\n";
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    const auto count = p_values_[i];
    const auto length = kWidth * static_cast<double>(count) / static_cast<double>(most);
    text += fmt::format("<= {:<5g} {:>9} {}\n", kBounds[i], count,
                        std::string(static_cast<std::size_t>(std::ceil(length)), '#'));
  }
  return text;
}

}  // namespace phsic
