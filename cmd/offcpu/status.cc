// `offcpu status`: how the service is doing.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "json/json_writer.h"
#include "offcpu/daemon.h"
#include "offcpu/outputs.h"
#include "offcpu/verb.h"
#include "profile/profile.h"
#include "proto/control.pb.h"
#include "tables/cost_text.h"

namespace offcpu {
namespace {

using Counts = google::protobuf::RepeatedPtrField<control::NamedCount>;

struct StatusFlags {
  std::string socket;
  bool as_json = false;
};

std::string MiB(uint64_t bytes) { return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20)); }

void PrintShares(const char* title, const Counts& counts, uint64_t whole) {
  std::string line = title;
  for (const control::NamedCount& count : counts)
    line += absl::StrFormat(" %s %s,", Printable(count.name()), FormatPercent(count.count(), whole));
  if (counts.empty()) return;
  line.back() = '\n';
  ToStdout(line);
}

void PrintExport(const control::Export& status) {
  ToStdout(absl::StrFormat("export        %d windows; %d requests sent, %s, %d tried again; %d wait, %s\n",
                           status.windows(), status.requests_sent(), MiB(status.bytes_sent()), status.retries(),
                           status.requests_waiting(), MiB(status.bytes_waiting())));
  if (status.files_written() != 0 || status.files_failed() != 0)
    ToStdout(absl::StrFormat("  files       %d written, %d failed\n", status.files_written(), status.files_failed()));
  for (const control::NamedCount& loss : status.losses()) {
    ToStdout(absl::StrFormat("  lost: %-30s %10d  %s\n", Printable(loss.name()), loss.count(),
                             loss.ns() == 0 ? "" : FormatDuration(loss.ns())));
  }
  if (!status.last_error().empty()) ToStdout(absl::StrFormat("  last error  %s\n", Printable(status.last_error())));
}

void PrintCost(const control::Cost& cost) {
  ProfileStats stats;
  stats.own_programs_ns = cost.programs_ns();
  stats.capture_ns = cost.captures_ns();
  stats.own_process_ns = cost.process_ns();
  stats.host_cpu_ns = cost.host_cpu_ns();
  stats.cpu_budget_ppm = cost.budget_ppm();
  const std::string text = CostText(stats);
  if (!text.empty()) ToStdout(absl::StrFormat("  cost        %s\n", text));
  if (cost.threshold_ns() == 0) return;
  ToStdout(absl::StrFormat("  sampled     waits below %s, now\n", FormatDuration(cost.threshold_ns())));
}

void PrintSwitchWalks(const control::SwitchWalks& walks) {
  if (walks.walked() == 0) return;
  ToStdout(absl::StrFormat("at switches   %d waits walked, without captures; %d summed there; %d proven\n",
                           walks.walked(), walks.summed(), walks.proven()));
  std::string misses;
  for (const control::NamedCount& miss : walks.misses())
    absl::StrAppend(&misses, misses.empty() ? "" : ", ", miss.count(), " ", Printable(miss.name()));
  if (!misses.empty()) ToStdout(absl::StrFormat("  not so      %s\n", misses));
  ToStdout(absl::StrFormat("  known       %d unwind rows and %d user stacks in the kernel\n", walks.told_rows(),
                           walks.told_stacks()));
}

void Print(const control::Status& status) {
  ToStdout(absl::StrFormat("offcpud       %s, pid %d, up for %s\n", Printable(status.version()), status.pid(),
                           FormatDuration(status.uptime_ns())));
  ToStdout(
      absl::StrFormat("used          %s of CPU (%s of one), %s resident; limits.memory, for what it holds, is %s\n",
                      FormatDuration(status.cpu_ns()), FormatPercent(status.cpu_ns(), status.uptime_ns()),
                      MiB(status.memory_bytes()), MiB(status.memory_limit_bytes())));
  ToStdout(absl::StrFormat("windows       %d of %d, %s each, %s; %d have ended, %d went early for want of memory\n",
                           status.windows(), status.windows_limit(), FormatDuration(status.window_ns()),
                           MiB(status.windows_bytes()), status.windows_ended(), status.windows_over_memory()));
  ToStdout(absl::StrFormat("they have     %s: %d intervals of %d processes\n", FormatDuration(status.recorded_ns()),
                           status.intervals(), status.processes()));
  PrintCost(status.cost());
  PrintSwitchWalks(status.walks_at_switch());
  ToStdout(absl::StrFormat("user walks    %d\n", status.walks()));
  PrintShares("  ended      ", status.walk_ends(), status.walks());
  PrintShares("  complete by", status.complete_walks_by_source(), status.walks());
  ToStdout(status.drops().empty() ? "lost          nothing\n" : "lost or without a stack\n");
  for (const control::NamedCount& drop : status.drops()) {
    const std::string time = drop.ns() == 0 ? "" : FormatDuration(drop.ns());
    ToStdout(absl::StrFormat("  %-36s %10d  %s\n", Printable(drop.name()), drop.count(), time));
  }
  if (status.has_export_()) PrintExport(status.export_());
  if (!status.last_error().empty()) ToStdout(absl::StrFormat("last error    %s\n", Printable(status.last_error())));
}

void WriteCounts(const char* key, const Counts& counts, JsonWriter& json) {
  WriteArray(key, counts, json, [&](const control::NamedCount& count) {
    json.BeginObject();
    json.Field("name", count.name());
    json.Field("count", count.count());
    json.Field("ns", count.ns());
    json.EndObject();
  });
}

void WriteExport(const control::Export& status, JsonWriter& json) {
  json.Key("export");
  json.BeginObject();
  json.Field("windows", status.windows());
  json.Field("requests_sent", status.requests_sent());
  json.Field("bytes_sent", status.bytes_sent());
  json.Field("retries", status.retries());
  json.Field("requests_waiting", status.requests_waiting());
  json.Field("bytes_waiting", status.bytes_waiting());
  json.Field("oldest_unix_ns", status.oldest_unix_ns());
  json.Field("files_written", status.files_written());
  json.Field("files_failed", status.files_failed());
  WriteCounts("losses", status.losses(), json);
  json.Field("last_error", status.last_error());
  json.EndObject();
}

void WriteCost(const control::Cost& cost, JsonWriter& json) {
  json.Key("cost");
  json.BeginObject();
  json.Field("programs_ns", cost.programs_ns());
  json.Field("captures_ns", cost.captures_ns());
  json.Field("process_ns", cost.process_ns());
  json.Field("host_cpu_ns", cost.host_cpu_ns());
  json.Field("budget_ppm", cost.budget_ppm());
  json.Field("threshold_ns", cost.threshold_ns());
  json.EndObject();
}

void WriteSwitchWalks(const control::SwitchWalks& walks, JsonWriter& json) {
  json.Key("walks_at_switch");
  json.BeginObject();
  json.Field("walked", walks.walked());
  json.Field("summed", walks.summed());
  json.Field("proven", walks.proven());
  WriteCounts("misses", walks.misses(), json);
  json.Field("told_rows", walks.told_rows());
  json.Field("told_stacks", walks.told_stacks());
  json.EndObject();
}

void WriteJson(const control::Status& status) {
  JsonWriter json(ToStdout);
  json.BeginObject();
  json.Field("version", status.version());
  json.Field("pid", static_cast<uint64_t>(status.pid()));
  json.Field("uptime_ns", status.uptime_ns());
  json.Field("cpu_ns", status.cpu_ns());
  json.Field("memory_bytes", status.memory_bytes());
  json.Field("memory_limit_bytes", status.memory_limit_bytes());
  json.Field("window_ns", status.window_ns());
  json.Field("windows", status.windows());
  json.Field("windows_limit", status.windows_limit());
  json.Field("windows_ended", status.windows_ended());
  json.Field("windows_over_memory", status.windows_over_memory());
  json.Field("windows_bytes", status.windows_bytes());
  json.Field("oldest_unix_ns", status.oldest_unix_ns());
  json.Field("recorded_ns", status.recorded_ns());
  json.Field("processes", status.processes());
  json.Field("intervals", status.intervals());
  WriteSwitchWalks(status.walks_at_switch(), json);
  json.Field("walks", status.walks());
  WriteCounts("walk_ends", status.walk_ends(), json);
  WriteCounts("complete_walks_by_source", status.complete_walks_by_source(), json);
  WriteCounts("drops", status.drops(), json);
  WriteCost(status.cost(), json);
  if (status.has_export_()) WriteExport(status.export_(), json);
  json.Field("last_error", status.last_error());
  json.EndObject();
  ToStdout("\n");
}

ExitCode RunStatus(const StatusFlags& flags) {
  control::Request request;
  request.mutable_status();
  const absl::Status asked = AskDaemon(flags.socket, request, [&flags](const control::Reply& reply) {
    flags.as_json ? WriteJson(reply.status()) : Print(reply.status());
    return false;
  });
  if (!asked.ok()) return Fail(asked);
  const absl::Status printed = FlushStdout();
  return printed.ok() ? kExitOk : Fail(printed);
}

}  // namespace

Verb StatusVerb() {
  auto flags = std::make_shared<StatusFlags>();
  Verb verb = {.name = "status", .help = "Show how the service, offcpud, is doing"};
  verb.flags = {{"--json", &flags->as_json, "Write one JSON object, for scripts"}, SocketFlag(&flags->socket)};
  verb.footer =
      "What it holds, what it has lost and why, and what it costs. Root may ask, and members of the service's "
      "group.\n"
      "\n"
      "Examples:\n"
      "  offcpu status\n"
      "  offcpu status --json | jq .memory_bytes\n"
      "\n"
      "Exit status: 0 done, 1 failed or no service, 2 wrong usage, 3 not allowed.";
  verb.run = [flags] { return RunStatus(*flags); };
  return verb;
}

}  // namespace offcpu
