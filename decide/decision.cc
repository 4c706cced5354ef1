#include "decide/decision.h"

#include <array>

#include "decide/rules.h"
#include "engine/damage.h"

namespace phsic {
namespace {

constexpr std::size_t kCodes = 256;
using Names = std::array<std::string, kCodes>;

Names make_names() {
  using namespace reasons;
  Names names;
  names.fill("unknown");
  names[kNone] = "";
  names[kCut] = "cut";
  names[kDuplicate] = "duplicate";
  names[kNearDuplicate] = "near_duplicate";
  names[kUnscored] = "unscored";
  names[kNoModel] = "no_model";
  names[kBadLine] = "bad_line";
  for (const auto& rule : rule_table()) {
    const std::string name(rule.name);
    names[reason_of(rule, PairSide::kBoth)] = name;
    names[reason_of(rule, PairSide::kLeft)] = name + "(left)";
    names[reason_of(rule, PairSide::kRight)] = name + "(right)";
  }
  for (const auto& kind : damage_kinds()) names[reason_of(kind)] = kind.name;
  return names;
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kKeep: return "keep";
    case Verdict::kDrop: return "drop";
    case Verdict::kUndecided: return "undecided";
  }
  return "unknown";
}

const std::string& name_of_reason(ReasonCode code) {
  static const Names kNames = make_names();
  return kNames[code];
}

ReasonCode reason_of(const DamageKind& kind) {
  return static_cast<ReasonCode>(reasons::kFirstDamage + kind.number);
}

bool is_reason(ReasonCode code) { return name_of_reason(code) != "unknown"; }

double quality_of(const Decision& decision, double quality) {
  return is_rejection(decision.reason) ? 0 : quality;
}

bool is_rejection(ReasonCode code) {
  return code == reasons::kDuplicate || code == reasons::kNearDuplicate ||
         code == reasons::kBadLine || (code >= reasons::kFirstRule && code < reasons::kFirstDamage);
}

}  // namespace phsic
