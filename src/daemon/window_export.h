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
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/config.h"
#include "export/exporter.h"
#include "process/timed_read.h"

namespace offcpu {

// With what the environment of this process says where the configuration says nothing.
absl::StatusOr<ExportConfig> ExportConfigOf(const DaemonConfig& config, const std::string& version);

class WindowExport {
 public:
  // Files of targets are read by `timed_read`; null: at once.
  explicit WindowExport(TimedRead timed_read = nullptr) : timed_read_(std::move(timed_read)) {}

  // Why `config` cannot take the place of the configuration that there is: what it names anew cannot be read, or not be
  // written. Leaves all as it was, but for a directory that it has made.
  absl::Status Check(const ExportConfig& config) const;
  void Configure(const ExportConfig& config);
  // At once.
  void Add(WindowPieces window);
  // Nothing: nothing is exported.
  std::optional<ExporterStats> stats() const;

 private:
  const TimedRead timed_read_;
  ExportConfig config_;  // of who configures
  mutable std::mutex mutex_;
  bool is_on_ = false;  // guarded by mutex_, as what follows is
  std::unique_ptr<Exporter> exporter_;
  std::vector<WindowPieces> held_;    // while there is none
  std::optional<ExporterPast> past_;  // of who configures
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_WINDOW_EXPORT_H_
