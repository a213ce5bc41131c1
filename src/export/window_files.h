// Writes windows as pprof files (export/pprof_files.h) into a directory that may be there only later: each write tries
// to open it, until that succeeds. Each window is written or counted as failed, and an error is said once, until
// another one or a success comes.
//
// One thread writes; stats() from any, without waiting for the disk.
#ifndef OFFCPU_EXPORT_WINDOW_FILES_H_
#define OFFCPU_EXPORT_WINDOW_FILES_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "export/pprof_files.h"
#include "export/say.h"
#include "profile/named_profile.h"

namespace offcpu {

class WindowFiles {
 public:
  // `directory` may be empty: then nothing is written. `before`: what earlier ones have counted.
  WindowFiles(std::string directory, const PprofFilesLimits& limits, const PprofFilesStats& before, Say say);

  void Write(const NamedProfile& window);

  // As of the last write, with what was counted before.
  PprofFilesStats stats() const;

 private:
  absl::Status TryWrite(const NamedProfile& window);

  const std::string directory_;
  const PprofFilesLimits limits_;
  const Say say_;
  std::unique_ptr<PprofFiles> files_;               // null: not opened yet
  absl::StatusCode error_ = absl::StatusCode::kOk;  // a message has names in it that differ from window to window
  PprofFilesStats before_;  // counted by others, and windows for which the directory was not there

  mutable std::mutex mutex_;
  PprofFilesStats stats_;  // guarded by mutex_
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_WINDOW_FILES_H_
