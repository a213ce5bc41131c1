#include "daemon/systemd.h"

#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {

void NotifyReady(const std::string& what) { sd_notify(0, absl::StrCat("READY=1\nSTATUS=", what).c_str()); }
void NotifyReloading() { sd_notify(0, "RELOADING=1"); }
void NotifyStopping() { sd_notify(0, "STOPPING=1"); }
void NotifyAlive() { sd_notify(0, "WATCHDOG=1"); }

std::optional<std::chrono::microseconds> WatchdogPeriod() {
  uint64_t period_us = 0;
  if (sd_watchdog_enabled(0, &period_us) <= 0) return std::nullopt;
  return std::chrono::microseconds(period_us);
}

absl::StatusOr<OwnedFd> InheritedSocket() {
  const int sockets = sd_listen_fds(1);
  if (sockets <= 0) return OwnedFd();
  OwnedFd first(SD_LISTEN_FDS_START);
  if (sockets > 1 || sd_is_socket(first.get(), AF_UNIX, SOCK_STREAM, 1) <= 0)
    return absl::InvalidArgumentError("systemd must pass exactly one socket, a listening Unix stream socket");
  return first;
}

}  // namespace offcpu
