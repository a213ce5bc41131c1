#include "daemon/recording.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bytes/percent.h"
#include "os/start_thread.h"
#include "profile/merge.h"

namespace offcpu {
namespace {

constexpr std::chrono::seconds kBeat(1);

// What is not the windows' is for what is being recorded, for symbols, and for what clients are sent.
WindowStoreLimits StoreLimitsOf(const DaemonConfig& config) {
  return {.windows = config.windows.keep, .bytes = config.memory_bytes / 4};
}

bool RecordsTheSame(const DaemonConfig& a, const DaemonConfig& b) {
  return a.record == b.record && a.memory_bytes == b.memory_bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Recording>> Recording::Start(const DaemonConfig& config, StartRecorder start,
                                                            WindowSink sink) {
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = start(config);
  if (!recorder.ok()) return recorder.status();
  std::unique_ptr<Recording> recording(new Recording(config, std::move(start), std::move(sink), *std::move(recorder)));
  absl::StatusOr<std::thread> thread = StartThread("windows", [self = recording.get()] { self->Loop(); });
  if (!thread.ok()) return thread.status();
  recording->thread_ = *std::move(thread);
  return recording;
}

Recording::Recording(const DaemonConfig& config, StartRecorder start, WindowSink sink,
                     std::unique_ptr<Recorder> recorder)
    : start_(std::move(start)),
      sink_(std::move(sink)),
      store_(StoreLimitsOf(config)),
      recorder_(std::move(recorder)),
      window_end_(Clock::now() + std::chrono::nanoseconds(config.windows.length_ns)),
      config_(config) {}

Recording::~Recording() {
  requests_.Stop();
  if (!thread_.joinable()) return;
  thread_.join();
  if (sink_ != nullptr) Keep(recorder_->Stop(), true);
}

absl::Status Recording::CheckHealth() const {
  constexpr std::chrono::seconds kPatience(10);
  if (since_beat() < kPatience) return absl::OkStatus();
  return absl::UnavailableError("the recording is stuck");
}

DaemonConfig Recording::config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

RecordingTotals Recording::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

std::string Recording::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

void Recording::Loop() {
  while (true) {
    Beat();
    const RecordingRequests::Wanted wanted = requests_.Await(std::min(window_end_, Clock::now() + kBeat));
    if (wanted.stop) return;
    if (wanted.config.has_value()) requests_.Reloaded(Change(*wanted.config));
    const bool ends_window = Clock::now() >= window_end_;
    if (!ends_window && !wanted.cut) continue;
    if (ends_window) window_end_ = Clock::now() + std::chrono::nanoseconds(config().windows.length_ns);
    absl::StatusOr<Profile> piece = recorder_->Cut();
    absl::Status status = piece.status();
    Keep(std::move(piece), ends_window);
    requests_.CutDone(wanted.last_cut, std::move(status));
  }
}

void Recording::Beat() {
  const RecorderProgress now = recorder_->progress();
  {
    const std::lock_guard lock(mutex_);
    totals_.adapts_sample = now.adapts_sample;
    totals_.threshold_ns = now.threshold_ns;
  }
  if (now.drains == progress_.drains || now.turns == progress_.turns) return;
  progress_ = now;
  last_beat_ = Clock::now();
}

void Recording::Keep(absl::StatusOr<Profile> piece, bool ends_window) {
  const absl::Status status = piece.status();
  if (piece.ok()) {
    Count(*piece);
    WindowPieces ended = store_.Add(*std::move(piece), ends_window);
    if (ends_window && sink_ != nullptr) sink_(std::move(ended));
  }
  if (status.ok()) return;
  const std::lock_guard lock(mutex_);
  last_error_ = std::string(status.message());
}

void Recording::Count(const Profile& piece) {
  const std::lock_guard lock(mutex_);
  AddStats(piece.stats, totals_.stats);
  totals_.budget_ns += PartOf(static_cast<double>(piece.stats.host_cpu_ns), piece.stats.cpu_budget_ppm);
  for (const ProfileRow& row : piece.rows) {
    const auto kind = static_cast<size_t>(row.kind);
    totals_.count[kind] += row.count;
    totals_.blocked_ns[kind] += row.blocked_ns;
    totals_.runnable_ns[kind] += row.runnable_ns;
    totals_.samples += row.samples;
    totals_.cpu_ns += row.cpu_ns;
  }
}

absl::Status Recording::Change(const DaemonConfig& config) {
  const DaemonConfig before = this->config();
  const bool is_new = !RecordsTheSame(before, config);
  if (is_new) {
    absl::StatusOr<std::unique_ptr<Recorder>> next = start_(config);
    if (!next.ok()) return next.status();
    const std::unique_ptr<Recorder> old = std::exchange(recorder_, *std::move(next));
    progress_ = {};
    Keep(old->Stop(), true);
  }
  store_.SetLimits(StoreLimitsOf(config));
  const std::lock_guard lock(mutex_);
  config_ = config;
  if (is_new || config.windows != before.windows)
    window_end_ = Clock::now() + std::chrono::nanoseconds(config.windows.length_ns);
  return absl::OkStatus();
}

}  // namespace offcpu
