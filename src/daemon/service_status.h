// How the service is doing, as text for people and as JSON for scripts. Pure.
#ifndef OFFCPU_DAEMON_SERVICE_STATUS_H_
#define OFFCPU_DAEMON_SERVICE_STATUS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "bytes/byte_sink.h"
#include "daemon/window_store.h"
#include "export/exporter.h"
#include "profile/profile.h"
#include "recorder/self_usage.h"

namespace offcpu {

struct ServiceStatus {
  std::string version;  // of offcpud
  pid_t pid = 0;
  uint64_t uptime_ns = 0;
  SelfUsage used;
  uint64_t memory_limit_bytes = 0;
  uint64_t window_ns = 0;
  uint64_t windows_limit = 0;
  WindowStoreStats windows;
  uint64_t oldest_unix_ns = 0;
  // Sums over all windows that are held. Their budget is what it is now.
  uint64_t recorded_ns = 0;
  ProfileStats sums;
  uint64_t threshold_ns = 0;  // shorter waits of some users are sampled, now; 0: every wait is recorded
  std::optional<ExporterStats> exporting;
  std::string last_error;  // of the last reload or window; empty: none
};

void WriteStatusText(const ServiceStatus& status, ByteSink sink);
// One object.
void WriteStatusJson(const ServiceStatus& status, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_SERVICE_STATUS_H_
