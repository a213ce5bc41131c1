#include "daemon/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytes/percent.h"
#include "export/export_losses.h"
#include "profile/losses.h"
#include "profile/merge.h"
#include "profile/profile.h"
#include "recorder/self_usage.h"

namespace offcpu {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr double kNsPerSecond = 1e9;

// One family of metrics after another; one metric each or, by their labels, many.
class Families {
 public:
  void Counter(const char* name, const char* help) { Begin(name, help, MetricType::Counter); }
  void Gauge(const char* name, const char* help) { Begin(name, help, MetricType::Gauge); }

  void Value(double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = value;  // the one that the family's type names is written
    metric.gauge.value = value;
    families_.back().metric.push_back(std::move(metric));
  }
  void Value(uint64_t value, Labels labels = {}) { Value(static_cast<double>(value), std::move(labels)); }

  void Histogram(const char* name, const char* help, ClientMetric::Histogram histogram) {
    Begin(name, help, MetricType::Histogram);
    families_.back().metric.emplace_back().histogram = std::move(histogram);
  }

  std::string Format() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  void Begin(const char* name, const char* help, MetricType type) {
    families_.push_back({.name = name, .help = help, .type = type, .metric = {}});
  }

  std::vector<MetricFamily> families_;
};

template <typename Enum, size_t N>
void AddByName(const char* label, const std::array<uint64_t, N>& counts, Families& to) {
  for (size_t i = 0; i < N; ++i) to.Value(counts[i], {{label, std::string(Name(static_cast<Enum>(i)))}});
}

void AddSelf(const DaemonConfig& config, const std::string& version, Families& to) {
  const SelfUsage self = MeasureSelf();
  to.Gauge("offcpud_build_info", "Version of the service, as a label.");
  to.Value(uint64_t{1}, {{"version", version}});
  to.Counter("process_cpu_seconds_total", "CPU time of the service, user and system.");
  to.Value(static_cast<double>(self.cpu_ns) / kNsPerSecond);
  to.Gauge("process_resident_memory_bytes", "Resident memory of the service.");
  to.Value(self.resident_bytes);
  to.Gauge("process_open_fds", "Open file descriptors of the service.");
  to.Value(OpenFiles());
  to.Gauge("offcpud_memory_limit_bytes", "How much memory the service may hold.");
  to.Value(config.memory_bytes);
}

void AddWindows(const WindowStoreStats& windows, Families& to) {
  to.Gauge("offcpud_windows", "Ended windows that are held.");
  to.Value(uint64_t{windows.windows});
  to.Gauge("offcpud_windows_memory_bytes", "Memory of the windows that are held.");
  to.Value(uint64_t{windows.bytes});
  to.Counter("offcpud_windows_ended_total", "Windows that have ended.");
  to.Value(windows.ended);
  to.Counter("offcpud_windows_over_memory_total",
             "Windows, or pieces of them, that were dropped early to save memory.");
  to.Value(windows.over_bytes);
}

// Index of a WaitKind. On-CPU samples have series of their own.
bool IsWait(size_t kind) { return static_cast<WaitKind>(kind) != WaitKind::kRunning; }
std::string KindName(size_t kind) { return std::string(Name(static_cast<WaitKind>(kind))); }

void AddTimes(const RecordingTotals& totals, Families& to) {
  to.Counter("offcpud_waits_total", "Recorded waits, by why the thread left the CPU.");
  for (size_t i = 0; i < totals.count.size(); ++i) {
    if (IsWait(i)) to.Value(totals.count[i], {{"kind", KindName(i)}});
  }
  to.Counter("offcpud_off_cpu_seconds_total", "Recorded time off the CPU, blocked and waiting for a CPU.");
  for (size_t i = 0; i < totals.count.size(); ++i) {
    if (!IsWait(i)) continue;
    to.Value(static_cast<double>(totals.blocked_ns[i]) / kNsPerSecond, {{"kind", KindName(i)}, {"part", "blocked"}});
    to.Value(static_cast<double>(totals.runnable_ns[i]) / kNsPerSecond, {{"kind", KindName(i)}, {"part", "runnable"}});
  }
  to.Counter("offcpud_on_cpu_samples_total", "Recorded samples of what ran on a CPU.");
  to.Value(totals.samples);
  to.Counter("offcpud_on_cpu_seconds_total", "Time on a CPU that the on-CPU samples stand for.");
  to.Value(static_cast<double>(totals.cpu_ns) / kNsPerSecond);
}

// Waiting for a CPU has no cause but that, and is apart. `cause` is the family, `wait` the cause itself.
void AddBlocked(const BlockedSums& blocked, Families& to) {
  to.Counter("offcpud_blocked_seconds_total", "Blocked time in ended windows, by cause; idle: waiting for work.");
  const auto add = [&to](const BlockedBy& by, const char* idle, uint64_t ns) {
    to.Value(static_cast<double>(ns) / kNsPerSecond, {{"cause", by.family}, {"wait", by.cause}, {"idle", idle}});
  };
  for (const auto& [by, time] : blocked.times) {
    add(by, "false", time.work_ns);
    add(by, "true", time.idle_ns);
  }
  add({"unknown", "unknown"}, "false", blocked.not_told_ns);
}

void AddGroups(const TopGroups& groups, Families& to) {
  const auto labels = [](const TimeGroup& group) -> Labels {
    return {{"unit", group.unit}, {"pod", group.pod}, {"container", group.container}};
  };
  const TimeGroup others = {.unit = "[other]", .pod = "", .container = ""};
  to.Counter("offcpud_group_blocked_seconds_total",
             "Blocked time without waits for work, by cause, of the services and containers with the most of it.");
  const auto add_blocked = [&](const TimeGroup& group, const GroupTime& time) {
    for (const auto& [cause, ns] : time.blocked_ns) {
      Labels of_cause = labels(group);
      of_cause.push_back({"cause", cause});
      to.Value(static_cast<double>(ns) / kNsPerSecond, of_cause);
    }
  };
  for (const auto& [group, time] : groups.shown()) add_blocked(group, time);
  add_blocked(others, groups.others());
  to.Counter("offcpud_group_runnable_seconds_total",
             "Time that the threads of these services and containers waited for a CPU.");
  for (const auto& [group, time] : groups.shown())
    to.Value(static_cast<double>(time.runnable_ns) / kNsPerSecond, labels(group));
  to.Value(static_cast<double>(groups.others().runnable_ns) / kNsPerSecond, labels(others));
}

// Sums of weights are no whole numbers. What is rounded is the sum up to a bucket, which never falls from one bucket to
// the next.
ClientMetric::Histogram HistogramOf(const RunQueueWaits& waits) {
  ClientMetric::Histogram histogram;
  double count = 0;
  for (size_t i = 0; i < kRunQueueBoundsNs.size(); ++i) {
    count += waits.counts[i];
    histogram.bucket.push_back({.cumulative_count = static_cast<uint64_t>(std::llround(count)),
                                .upper_bound = static_cast<double>(kRunQueueBoundsNs[i]) / kNsPerSecond});
  }
  histogram.sample_count = static_cast<uint64_t>(std::llround(count + waits.counts.back()));
  histogram.sample_sum = static_cast<double>(waits.ns) / kNsPerSecond;
  return histogram;
}

void AddStacks(const ProfileStats& stats, Families& to) {
  to.Counter("offcpud_user_walks_total", "Walked user stacks, by how the walk ended.");
  AddByName<EndReason>("end", stats.walk_ends, to);
  to.Counter("offcpud_waits_walked_at_switch_total", "Waits whose user stacks were walked in the kernel.");
  to.Value(stats.walked_at_switch);
  to.Counter("offcpud_walk_misses_total",
             "Walks in the kernel that did not give the stack, by reason; a capture is asked for instead.");
  AddByName<WalkMiss>("reason", stats.walk_misses, to);
  to.Gauge("offcpud_told_unwind_rows", "Unwind rows that the BPF programs know: the most at any end of a window.");
  to.Value(stats.told_rows);
  to.Gauge("offcpud_told_user_stacks", "User stacks that the BPF programs know: the most at any end of a window.");
  to.Value(stats.told_stacks);
  to.Counter("offcpud_user_frames_total", "Frames of walked user stacks, by what led to their caller.");
  AddByName<FrameSource>("source", stats.frames_by_source, to);
}

void AddCost(const ProfileStats& stats, Families& to) {
  to.Counter("offcpud_captures_total", "User stacks that were copied in their own threads.");
  to.Value(stats.captures);
  to.Counter("offcpud_capture_seconds_total", "CPU time that copying their stacks took from threads.");
  to.Value(static_cast<double>(stats.capture_ns) / kNsPerSecond);
  to.Gauge("offcpud_capture_longest_seconds",
           "The longest time that copying one stack took from its thread since the recording began.");
  to.Value(static_cast<double>(stats.capture_longest_ns) / kNsPerSecond);
}

void AddOwnCost(const RecordingTotals& totals, uint64_t budget_ppm, Families& to) {
  const ProfileStats& stats = totals.stats;
  to.Counter("offcpud_own_cpu_seconds_total", "CPU time that recording has cost, by part.");
  to.Value(static_cast<double>(stats.own_programs_ns) / kNsPerSecond, {{"part", "programs"}});
  to.Value(static_cast<double>(stats.capture_ns) / kNsPerSecond, {{"part", "captures"}});
  to.Value(static_cast<double>(stats.own_process_ns) / kNsPerSecond, {{"part", "daemon"}});
  to.Counter("offcpud_host_cpu_seconds_total",
             "CPU time that the host had during the recording: the number of CPUs times the time.");
  to.Value(static_cast<double>(stats.host_cpu_ns) / kNsPerSecond);
  to.Counter("offcpud_cpu_budget_seconds_total",
             "CPU time that the budget allowed for recording; does not grow while the sample is fixed.");
  to.Value(totals.budget_ns / kNsPerSecond);
  to.Gauge("offcpud_cpu_budget_ratio", "Share of the host's CPU time that recording may cost; 0: the sample is fixed.");
  to.Value(totals.adapts_sample ? PartOf(1, budget_ppm) : 0);
  to.Gauge("offcpud_sample_threshold_seconds",
           "Waits of some users below this length are sampled now; 0: every wait is recorded.");
  to.Value(static_cast<double>(totals.threshold_ns) / kNsPerSecond);
}

// An alert on the growth of a series needs the series from the start.
std::vector<Loss> WithThoseThatDidNotHappen(std::vector<Loss> losses, std::vector<std::string> all) {
  for (std::string& name : all) {
    const auto is_it = [&name](const Loss& loss) { return loss.reason == name; };
    if (std::none_of(losses.begin(), losses.end(), is_it)) losses.push_back({.reason = std::move(name)});
  }
  return losses;
}

// Only those that happened: there are far more reasons than any host has losses. offcpu-losses(7) lists them.
void AddLosses(const std::vector<Loss>& losses, Families& to) {
  to.Counter("offcpud_dropped_total", "Losses and missing stacks, by reason.");
  for (const Loss& loss : losses) to.Value(loss.count, {{"reason", loss.reason}});
  to.Counter("offcpud_dropped_seconds_total", "Time off the CPU that was lost or has no stack, by reason.");
  for (const Loss& loss : losses) {
    if (loss.ns != 0) to.Value(static_cast<double>(loss.ns) / kNsPerSecond, {{"reason", loss.reason}});
  }
}

void AddHttp(const HttpStats& http, Families& to) {
  to.Counter("offcpud_http_answers_total", "HTTP requests that were answered.");
  to.Value(http.answered);
  to.Counter("offcpud_http_dropped_total", "HTTP connections that were closed without an answer, by reason.");
  to.Value(http.late_heads, {{"reason", "request late"}});
  to.Value(http.late_answers, {{"reason", "answer not taken"}});
  to.Value(http.no_room, {{"reason", "no room"}});
  to.Value(http.no_tls, {{"reason", "no TLS"}});
  to.Counter("offcpud_http_unauthorized_total", "Requests without the required token or certificate.");
  to.Value(http.not_allowed);
  to.Counter("offcpud_http_profiles_refused_total",
             "Requests for profiles that were refused because too many were being made.");
  to.Value(http.refused_profiles);
}

void AddControl(const ControlStats& control, Families& to) {
  to.Counter("offcpud_control_dropped_total",
             "Connections to the control socket that were closed without a whole answer, by reason.");
  to.Value(control.late_requests, {{"reason", "request late"}});
  to.Value(control.late_answers, {{"reason", "answer not taken"}});
  to.Value(control.no_room, {{"reason", "no room"}});
}

void AddExport(const ExporterStats& stats, Families& to) {
  to.Counter("offcpud_export_windows_total", "Windows that have ended and were to be exported.");
  to.Value(stats.windows);
  to.Counter("offcpud_export_requests_total", "Requests that a collector has accepted.");
  to.Value(stats.requests_sent);
  to.Counter("offcpud_export_bytes_total", "Bytes of requests that a collector has accepted, as sent.");
  to.Value(stats.bytes_sent);
  to.Counter("offcpud_export_retries_total", "Requests that were not accepted and are sent again.");
  to.Value(stats.retries);
  to.Gauge("offcpud_export_waiting_requests", "Requests that wait for a collector.");
  to.Value(stats.requests_waiting);
  to.Gauge("offcpud_export_waiting_bytes", "Bytes of requests that wait for a collector, in the spool and in memory.");
  to.Value(stats.bytes_waiting);
  to.Counter("offcpud_export_files_total", "pprof files that were written.");
  to.Value(stats.files.written);
  to.Counter("offcpud_export_files_failed_total", "pprof files that could not be written.");
  to.Value(stats.files.failed);
  to.Counter("offcpud_export_refused_profiles_total", "Profiles that a collector refused, by type.");
  for (const Loss& refused : stats.refused) to.Value(refused.count, {{"type", refused.reason}});
  to.Counter("offcpud_export_lost_total",
             "Requests that will not reach the collector, and windows that became no request.");
  const std::vector<Loss> losses = WithThoseThatDidNotHappen(stats.losses, AllExportLossNames());
  for (const Loss& loss : losses) to.Value(loss.count, {{"reason", loss.reason}});
  to.Counter("offcpud_export_lost_seconds_total", "Time in windows that will not reach the collector, by reason.");
  for (const Loss& loss : losses) to.Value(static_cast<double>(loss.ns) / kNsPerSecond, {{"reason", loss.reason}});
}

}  // namespace

std::string FormatMetrics(const Recording& recording, const WindowExport& window_export, const BlockedSums& blocked,
                          const HttpStats& http, const ControlStats& control, const std::string& version) {
  const RecordingTotals totals = recording.totals();
  Families families;
  AddSelf(recording.config(), version, families);
  AddWindows(recording.windows().stats(), families);
  AddTimes(totals, families);
  AddBlocked(blocked, families);
  AddGroups(blocked.groups, families);
  families.Histogram("offcpud_run_queue_latency_seconds", "How long runnable threads waited for a CPU.",
                     HistogramOf(totals.stats.run_queue));
  AddStacks(totals.stats, families);
  AddCost(totals.stats, families);
  AddOwnCost(totals, recording.config().record.cpu_budget_ppm, families);
  std::vector<Loss> losses = totals.stats.losses;
  AddLosses(blocked.lost_names, losses);
  AddLosses(losses, families);
  AddHttp(http, families);
  AddControl(control, families);
  if (const std::optional<ExporterStats> stats = window_export.stats()) AddExport(*stats, families);
  return families.Format();
}

}  // namespace offcpu
