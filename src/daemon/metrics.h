// The service's metrics, in the text format of Prometheus. Any thread.
#ifndef OFFCPU_DAEMON_METRICS_H_
#define OFFCPU_DAEMON_METRICS_H_

#include <string>

#include "daemon/blocked_times.h"
#include "daemon/control_server.h"
#include "daemon/http_connections.h"
#include "daemon/recording.h"
#include "daemon/window_export.h"

namespace offcpu {

// Counters are of all that was recorded up to the last window or dump, and never go back while the service runs. What
// may be counted one day is there from the start, at 0, but for losses of the recording and for groups, which are many.
std::string FormatMetrics(const Recording& recording, const WindowExport& window_export, const BlockedSums& blocked,
                          const HttpStats& http, const ControlStats& control, const std::string& version);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_METRICS_H_
