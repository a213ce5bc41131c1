// What systemd and the service tell each other. Without systemd nothing happens, and nothing fails.
#ifndef OFFCPU_DAEMON_SYSTEMD_H_
#define OFFCPU_DAEMON_SYSTEMD_H_

#include <chrono>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "os/owned_fd.h"

namespace offcpu {

void NotifyReady(const std::string& what);
void NotifyReloading();
void NotifyStopping();
void NotifyAlive();

// How long systemd waits between two signs of life; nothing if it does not.
std::optional<std::chrono::microseconds> WatchdogPeriod();

// The listening Unix socket that systemd has handed over; none if it has not. InvalidArgument for anything else.
absl::StatusOr<OwnedFd> InheritedSocket();

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_SYSTEMD_H_
