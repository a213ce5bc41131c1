// The service: puts together the recording, the control socket, HTTP and export, and does what signals and systemd
// want. Runs on the thread that calls it, which must have no others yet: it blocks the signals for all.
//
// SIGTERM and SIGINT end it within nine seconds, whatever hangs; SIGHUP reads the configuration again. systemd's
// watchdog is fed only while windows are being cut.
#ifndef OFFCPU_DAEMON_SERVICE_H_
#define OFFCPU_DAEMON_SERVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/config.h"
#include "daemon/recording.h"
#include "os/reader_pool.h"
#include "process/module_cache.h"

namespace offcpu {

struct ServiceHooks {
  std::function<absl::StatusOr<DaemonConfig>()> read_config;
  StartRecorder start_recorder;
  std::function<std::shared_ptr<ModuleCache>()> modules;  // that recorders use; asked for when one has been started
  std::shared_ptr<ReaderPool> readers;                    // that recorders use, too
};

// Until a signal ends it.
absl::Status RunService(const ServiceHooks& hooks, const std::string& version);

// Why the patterns or the export that a configuration names cannot be used.
absl::Status CheckNamed(const DaemonConfig& config, const std::string& version);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_SERVICE_H_
