// The exporter of the service, as the configuration wants it now, and nothing where it wants none. What is added while
// one gives way to another goes to the next.
//
// Threads: any may add and ask; one configures.
#ifndef OFFCPU_DAEMON_WINDOW_EXPORT_H_
#define OFFCPU_DAEMON_WINDOW_EXPORT_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/config.h"
#include "export/ended_window.h"
#include "export/exporter.h"

namespace offcpu {

// With what the environment of this process says where the configuration says nothing.
absl::StatusOr<ExportConfig> ExportConfigOf(const DaemonConfig& config, const std::string& version);

class WindowExport {
 public:
  // Why `config` cannot take the place of the configuration that there is: what it names anew cannot be read, or not be
  // written. Leaves all as it was, but for a directory that it has made.
  absl::Status Check(const ExportConfig& config) const;
  void Configure(const ExportConfig& config);
  // At once.
  void Add(std::shared_ptr<EndedWindow> window);
  // Nothing: nothing is exported.
  std::optional<ExporterStats> stats() const;

 private:
  ExportConfig config_;  // of who configures
  mutable std::mutex mutex_;
  bool is_on_ = false;  // guarded by mutex_, as what follows is
  std::unique_ptr<Exporter> exporter_;
  std::vector<std::shared_ptr<EndedWindow>> held_;  // while there is none
  std::optional<ExporterPast> past_;                // of who configures
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_WINDOW_EXPORT_H_
