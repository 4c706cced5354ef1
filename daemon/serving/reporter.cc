#include "daemon/serving/reporter.h"

#include <new>
#include <string>

namespace phsic {
namespace {

constexpr auto kBetweenFailures = std::chrono::seconds(1);

}  // namespace

Reporter::Reporter(LaneListener& listener)
    : listener_(listener),
      last_failure_((Clock::now() - kBetweenFailures).time_since_epoch().count()) {}

void Reporter::tell_failure(std::string_view message) {
  const auto now = Clock::now().time_since_epoch().count();
  auto last = last_failure_.load();
  if (now - last < std::chrono::duration_cast<Clock::duration>(kBetweenFailures).count()) return;
  if (!last_failure_.compare_exchange_strong(last, now)) return;
  try {
    tell(FailureEvent{std::string(message)});
  } catch (const std::bad_alloc&) {
    // Those who asked are told, and the next failure may be.
  }
}

}  // namespace phsic
