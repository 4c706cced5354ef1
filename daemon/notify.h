// Telling systemd how the daemon is. Without systemd nothing happens.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace phsic {

void notify_ready();
void notify_reloading();
void notify_stopping();
void notify_alive();
// Tells that a long start makes progress: systemd waits so much longer.
void notify_progress(std::chrono::microseconds patience);
// What `systemctl status` shows.
void notify_status(const std::string& status);
// How often notify_alive() is expected; none when it is not.
[[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval();

}  // namespace phsic
