#include "export/window_files.h"

#include <utility>

#include "absl/status/statusor.h"

namespace offcpu {

WindowFiles::WindowFiles(std::string directory, const PprofFilesLimits& limits, const PprofFilesStats& before, Say say)
    : directory_(std::move(directory)), limits_(limits), say_(std::move(say)), before_(before), stats_(before) {}

void WindowFiles::Write(const NamedProfile& window) {
  if (directory_.empty()) return;
  const absl::Status status = TryWrite(window);
  if (!status.ok() && status.code() != error_) say_(true, std::string(status.message()));
  error_ = status.code();
  if (files_ == nullptr) ++before_.failed;
  const std::lock_guard lock(mutex_);
  stats_ = files_ != nullptr ? files_->stats() : PprofFilesStats();
  stats_.written += before_.written;
  stats_.removed += before_.removed;
  stats_.failed += before_.failed;
}

absl::Status WindowFiles::TryWrite(const NamedProfile& window) {
  if (files_ == nullptr) {
    absl::StatusOr<std::unique_ptr<PprofFiles>> opened = PprofFiles::Open(directory_, limits_);
    if (!opened.ok()) return opened.status();
    files_ = *std::move(opened);
  }
  return files_->Write(window);
}

PprofFilesStats WindowFiles::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace offcpu
