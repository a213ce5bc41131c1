#include "daemon/window_export.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/log.h"
#include "export/http_poster.h"
#include "export/pprof_files.h"
#include "export/spool.h"

namespace offcpu {
namespace {

constexpr size_t kUnbounded = SIZE_MAX;

}  // namespace

absl::StatusOr<ExportConfig> ExportConfigOf(const DaemonConfig& config, const std::string& version) {
  return MakeExportConfig(config.exporting, config.files, version, [](const char* name) { return getenv(name); });
}

absl::Status WindowExport::Check(const ExportConfig& config) const {
  const bool sends = !config.target.url.empty();
  const bool has_spool = !config_.target.url.empty() && config_.spool == config.spool;
  const bool has_files = config_.files.directory == config.files.directory;
  // Without limits: nothing goes before the configuration is in force.
  absl::Status status;
  if (sends && config.target != config_.target) status = CheckTargetFiles(config.target);
  if (status.ok() && sends && !config.spool.empty() && !has_spool)
    status = Spool::Open(config.spool, {.bytes = kUnbounded, .records = kUnbounded}).status();
  if (status.ok() && !config.files.directory.empty() && !has_files)
    status = PprofFiles::Open(config.files.directory, {.files = kUnbounded, .bytes = kUnbounded}).status();
  return status;
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
  auto exporter = std::make_unique<Exporter>(config, say, ExporterLimits(), past_);
  const std::lock_guard lock(mutex_);
  exporter_ = std::move(exporter);
  for (std::shared_ptr<EndedWindow>& window : std::exchange(held_, {})) exporter_->Add(std::move(window));
}

void WindowExport::Add(std::shared_ptr<EndedWindow> window) {
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
