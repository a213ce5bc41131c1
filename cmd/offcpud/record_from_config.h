// What the configuration asks the recorder for. Looks up users, cgroups and containers.
#ifndef OFFCPU_CMD_OFFCPUD_RECORD_FROM_CONFIG_H_
#define OFFCPU_CMD_OFFCPUD_RECORD_FROM_CONFIG_H_

#include "absl/status/statusor.h"
#include "daemon/config.h"
#include "process/module_cache.h"
#include "recorder/recorder.h"

namespace offcpu {

absl::StatusOr<RecordConfig> RecordConfigOf(const DaemonConfig& config);
ModuleCacheLimits ModuleLimitsOf(const DaemonConfig& config);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPUD_RECORD_FROM_CONFIG_H_
