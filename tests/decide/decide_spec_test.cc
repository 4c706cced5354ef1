#include "decide/decide_spec.h"

#include <catch2/catch.hpp>

#include "core/error.h"

namespace phsic {
namespace {

TEST_CASE("A stream that counts has no duplicates, and no rules about languages") {
  DecideSpec spec;
  spec.rules = RuleSet::hard();
  StreamSpec stream;
  CHECK(plan_of(spec, stream).rules == RuleSet::hard());
  CHECK(plan_of(spec, stream).duplicate_window == spec.duplicate_window);
  stream.counts = true;
  const auto plan = plan_of(spec, stream);
  CHECK(plan.rules == RuleSet::parse("hard,-no_script_inconsistencies,-no_wrong_language"));
  CHECK(plan.duplicates == DuplicatePolicy::kLearn);
  CHECK(plan.duplicate_window == 0);
  CHECK(plan.cut.kind == CutSpec::Kind::kNone);
}

TEST_CASE("A stream that counts is cut by its score alone") {
  StreamSpec stream;
  stream.counts = true;
  DecideSpec spec;
  spec.set("score", "1.5");
  CHECK(plan_of(spec, stream).cut == CutSpec{CutSpec::Kind::kScore, 1.5});
  DecideSpec by_p;
  by_p.set("p", "0.01");
  CHECK_THROWS_AS(plan_of(by_p, stream), Error);
}

TEST_CASE("Identical texts break no rule where they are learned, unless somebody says so") {
  const auto& rule = *find_rule("no_identical");
  StreamSpec stream;
  CHECK(plan_of({}, stream).rules.has(rule));
  stream.learns_identical = true;
  CHECK_FALSE(plan_of({}, stream).rules.has(rule));
  DecideSpec spec;
  spec.set("rules", "default");
  CHECK(plan_of(spec, stream).rules.has(rule));
}

}  // namespace
}  // namespace phsic
