#include "daemon/service_status.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "json/json_writer.h"
#include "tables/cost_text.h"

namespace offcpu {
namespace {

// Those that are not 0, by the names of the enumeration that is their index.
template <typename Enum, typename Counts>
std::vector<Loss> NonZero(const Counts& counts) {
  std::vector<Loss> named;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) named.push_back({.reason = std::string(Name(static_cast<Enum>(i))), .count = counts[i]});
  }
  return named;
}

std::string MiB(uint64_t bytes) { return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20)); }

void WriteShares(const char* title, const std::vector<Loss>& counts, uint64_t whole, ByteSink sink) {
  std::string line = title;
  for (const Loss& count : counts)
    absl::StrAppend(&line, " ", count.reason, " ", FormatPercent(count.count, whole), ",");
  if (counts.empty()) return;
  line.back() = '\n';
  sink(line);
}

void WriteExport(const ExporterStats& stats, ByteSink sink) {
  sink(absl::StrFormat("export        %d windows; %d requests sent, %s, %d tried again; %d wait, %s\n", stats.windows,
                       stats.requests_sent, MiB(stats.bytes_sent), stats.retries, stats.requests_waiting,
                       MiB(stats.bytes_waiting)));
  if (stats.files.written != 0 || stats.files.failed != 0)
    sink(absl::StrFormat("  files       %d written, %d failed\n", stats.files.written, stats.files.failed));
  for (const Loss& loss : stats.losses) {
    sink(absl::StrFormat("  lost: %-30s %10d  %s\n", loss.reason, loss.count,
                         loss.ns == 0 ? "" : FormatDuration(loss.ns)));
  }
  if (!stats.last_error.empty()) sink(absl::StrFormat("  last error  %s\n", Printable(stats.last_error)));
}

void WriteSwitchWalks(const ProfileStats& sums, ByteSink sink) {
  if (sums.walked_at_switch == 0) return;
  sink(absl::StrFormat("at switches   %d waits walked, without captures; %d summed there; %d proven\n",
                       sums.walked_at_switch, sums.summed_at_switch, sums.proven_walks));
  std::string misses;
  for (const Loss& miss : NonZero<WalkMiss>(sums.walk_misses))
    absl::StrAppend(&misses, misses.empty() ? "" : ", ", miss.count, " ", miss.reason);
  if (!misses.empty()) sink(absl::StrFormat("  missed      %s\n", misses));
  sink(absl::StrFormat("  known       %d unwind rows and %d user stacks in the kernel\n", sums.told_rows,
                       sums.told_stacks));
}

void WriteWindows(const ServiceStatus& status, ByteSink sink) {
  sink(absl::StrFormat("windows       %d of %d, %s each, %s; %d have ended, %d were dropped early to save memory\n",
                       status.windows.windows, status.windows_limit, FormatDuration(status.window_ns),
                       MiB(status.windows.bytes), status.windows.ended, status.windows.over_bytes));
  sink(absl::StrFormat("they hold     %s: %d intervals of %d processes\n", FormatDuration(status.recorded_ns),
                       status.sums.intervals, status.sums.processes));
  if (const std::string cost = CostText(status.sums); !cost.empty()) sink(absl::StrFormat("  cost        %s\n", cost));
  if (status.threshold_ns != 0)
    sink(absl::StrFormat("  sampled     now: some users' waits below %s\n", FormatDuration(status.threshold_ns)));
}

void WriteCounts(const char* key, const std::vector<Loss>& counts, JsonWriter& json) {
  WriteArray(key, counts, json, [&](const Loss& count) {
    json.BeginObject();
    json.Field("name", count.reason);
    json.Field("count", count.count);
    json.Field("ns", count.ns);
    json.EndObject();
  });
}

void WriteExport(const ExporterStats& stats, JsonWriter& json) {
  json.Key("export");
  json.BeginObject();
  json.Field("windows", stats.windows);
  json.Field("requests_sent", stats.requests_sent);
  json.Field("bytes_sent", stats.bytes_sent);
  json.Field("retries", stats.retries);
  json.Field("requests_waiting", stats.requests_waiting);
  json.Field("bytes_waiting", stats.bytes_waiting);
  json.Field("oldest_unix_ns", stats.oldest_unix_ns);
  json.Field("files_written", stats.files.written);
  json.Field("files_failed", stats.files.failed);
  WriteCounts("losses", stats.losses, json);
  json.Field("last_error", stats.last_error);
  json.EndObject();
}

void WriteCost(const ServiceStatus& status, JsonWriter& json) {
  json.Key("cost");
  json.BeginObject();
  json.Field("programs_ns", status.sums.own_programs_ns);
  json.Field("captures_ns", status.sums.capture_ns);
  json.Field("process_ns", status.sums.own_process_ns);
  json.Field("host_cpu_ns", status.sums.host_cpu_ns);
  json.Field("budget_ppm", status.sums.cpu_budget_ppm);
  json.Field("threshold_ns", status.threshold_ns);
  json.EndObject();
}

void WriteSwitchWalks(const ProfileStats& sums, JsonWriter& json) {
  json.Key("walks_at_switch");
  json.BeginObject();
  json.Field("walked", sums.walked_at_switch);
  json.Field("summed", sums.summed_at_switch);
  json.Field("proven", sums.proven_walks);
  WriteCounts("misses", NonZero<WalkMiss>(sums.walk_misses), json);
  json.Field("told_rows", sums.told_rows);
  json.Field("told_stacks", sums.told_stacks);
  json.EndObject();
}

void WriteWindows(const ServiceStatus& status, JsonWriter& json) {
  json.Field("window_ns", status.window_ns);
  json.Field("windows", status.windows.windows);
  json.Field("windows_limit", status.windows_limit);
  json.Field("windows_ended", status.windows.ended);
  json.Field("windows_over_memory", status.windows.over_bytes);
  json.Field("windows_bytes", status.windows.bytes);
  json.Field("oldest_unix_ns", status.oldest_unix_ns);
  json.Field("recorded_ns", status.recorded_ns);
}

}  // namespace

void WriteStatusText(const ServiceStatus& status, ByteSink sink) {
  const ProfileStats& sums = status.sums;
  sink(absl::StrFormat("offcpud       %s, pid %d, up for %s\n", status.version, status.pid,
                       FormatDuration(status.uptime_ns)));
  sink(absl::StrFormat("used          %s of CPU (%s of one), %s resident; limits.memory, for what it holds, is %s\n",
                       FormatDuration(status.used.cpu_ns), FormatPercent(status.used.cpu_ns, status.uptime_ns),
                       MiB(status.used.resident_bytes), MiB(status.memory_limit_bytes)));
  WriteWindows(status, sink);
  WriteSwitchWalks(sums, sink);
  sink(absl::StrFormat("user walks    %d\n", sums.walks));
  WriteShares("  ended      ", NonZero<EndReason>(sums.walk_ends), sums.walks, sink);
  WriteShares("  complete by", NonZero<FrameSource>(sums.complete_walks_by_source), sums.walks, sink);
  sink(sums.losses.empty() ? "lost          nothing\n" : "lost or without a stack\n");
  for (const Loss& loss : sums.losses) {
    const std::string time = loss.ns == 0 ? "" : FormatDuration(loss.ns);
    sink(absl::StrFormat("  %-36s %10d  %s\n", loss.reason, loss.count, time));
  }
  if (status.exporting.has_value()) WriteExport(*status.exporting, sink);
  if (!status.last_error.empty()) sink(absl::StrFormat("last error    %s\n", Printable(status.last_error)));
}

void WriteStatusJson(const ServiceStatus& status, ByteSink sink) {
  const ProfileStats& sums = status.sums;
  JsonWriter json(sink);
  json.BeginObject();
  json.Field("version", status.version);
  json.Field("pid", static_cast<uint64_t>(status.pid));
  json.Field("uptime_ns", status.uptime_ns);
  json.Field("cpu_ns", status.used.cpu_ns);
  json.Field("memory_bytes", status.used.resident_bytes);
  json.Field("memory_limit_bytes", status.memory_limit_bytes);
  WriteWindows(status, json);
  json.Field("processes", sums.processes);
  json.Field("intervals", sums.intervals);
  WriteSwitchWalks(sums, json);
  json.Field("walks", sums.walks);
  WriteCounts("walk_ends", NonZero<EndReason>(sums.walk_ends), json);
  WriteCounts("complete_walks_by_source", NonZero<FrameSource>(sums.complete_walks_by_source), json);
  WriteCounts("drops", sums.losses, json);
  WriteCost(status, json);
  if (status.exporting.has_value()) WriteExport(*status.exporting, json);
  json.Field("last_error", status.last_error);
  json.EndObject();
  sink("\n");
}

}  // namespace offcpu
