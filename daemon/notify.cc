#include "daemon/notify.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

namespace phsic {

void notify_ready() { sd_notify(0, "READY=1"); }

void notify_reloading() {
  // systemd wants to know when, by the monotonic clock.
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", micros).c_str());
}

void notify_stopping() { sd_notify(0, "STOPPING=1"); }

void notify_alive() { sd_notify(0, "WATCHDOG=1"); }

void notify_progress(std::chrono::microseconds patience) {
  sd_notify(0, fmt::format("EXTEND_TIMEOUT_USEC={}", patience.count()).c_str());
}

void notify_status(const std::string& status) {
  sd_notify(0, fmt::format("STATUS={}", status).c_str());
}

std::optional<std::chrono::microseconds> watchdog_interval() {
  std::uint64_t micros = 0;
  if (sd_watchdog_enabled(0, &micros) <= 0) return std::nullopt;
  return std::chrono::microseconds(micros);
}

}  // namespace phsic
