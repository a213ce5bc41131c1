#include "daemon/window_export.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/log.h"

namespace offcpu {

absl::StatusOr<ExportConfig> ExportConfigOf(const DaemonConfig& config, const std::string& version) {
  absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(config.idle_patterns);
  if (!idle.ok()) return idle.status();
  absl::StatusOr<ExportConfig> made =
      MakeExportConfig(config.exporting, config.files, version, [](const char* name) { return getenv(name); });
  if (made.ok()) made->idle = *std::move(idle);
  return made;
}

void WindowExport::Configure(const ExportConfig& config) {
  if (config == config_) return;
  config_ = config;
  std::unique_ptr<Exporter> old;
  {
    const std::lock_guard lock(mutex_);
    is_on_ = config.is_on();
    old = std::move(exporter_);
  }
  if (old != nullptr) past_ = old->Stop();  // it may take seconds
  old.reset();                              // its spool is wanted again
  if (!config.is_on()) return;
  if (!config.target.url.empty()) Log(LogLevel::kInfo, absl::StrCat("windows go to ", config.shown_url));
  if (!config.files.directory.empty()) Log(LogLevel::kInfo, absl::StrCat("windows go to ", config.files.directory));
  const auto say = [](bool is_bad, const std::string& line) {
    Log(is_bad ? LogLevel::kWarning : LogLevel::kInfo, line);
  };
  auto exporter = std::make_unique<Exporter>(config, say, ExporterLimits(), past_, timed_read_);
  const std::lock_guard lock(mutex_);
  exporter_ = std::move(exporter);
  for (WindowPieces& window : std::exchange(held_, {})) exporter_->Add(std::move(window));
}

void WindowExport::Add(WindowPieces window) {
  const std::lock_guard lock(mutex_);
  if (exporter_ != nullptr) return exporter_->Add(std::move(window));
  if (is_on_) held_.push_back(std::move(window));
}

std::optional<ExporterStats> WindowExport::stats() const {
  const std::lock_guard lock(mutex_);
  if (exporter_ == nullptr) return std::nullopt;
  return exporter_->stats();
}

}  // namespace offcpu
