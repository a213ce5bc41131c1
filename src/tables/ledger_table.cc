#include "tables/ledger_table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "bytes/utf8.h"

namespace offcpu {
namespace {

std::string FormatSigned(int64_t ns) {
  return ns < 0 ? absl::StrCat("-", FormatDuration(static_cast<uint64_t>(-ns)))
                : FormatDuration(static_cast<uint64_t>(ns));
}

struct Line {
  LedgerEntry times;
  uint64_t threads = 1;
};

// Most threads do nothing but block.
uint64_t BusyNs(const Line& line) { return line.times.wall_ns - std::min(line.times.blocked_ns, line.times.wall_ns); }

std::vector<Line> LinesOf(const std::vector<LedgerEntry>& threads, bool per_thread) {
  std::vector<Line> lines;
  for (const LedgerEntry& thread : threads) {
    if (per_thread || lines.empty() || lines.back().times.process != thread.process) {
      lines.push_back({.times = thread});
    } else {
      ++lines.back().threads;
      AddTimes(thread, lines.back().times);
    }
  }
  return lines;
}

std::string Times(const LedgerEntry& entry) {
  return absl::StrFormat("%9s %9s %9s %9s %9s %9s %9s", FormatDuration(entry.wall_ns), FormatDuration(entry.on_cpu_ns),
                         FormatDuration(entry.blocked_ns), FormatDuration(entry.runnable_ns),
                         FormatDuration(entry.stolen_ns), FormatDuration(entry.lost_total_ns()),
                         FormatSigned(entry.rest_ns()));
}

void WriteLine(const ProfileFacts& profile, const Line& line, bool per_thread, ByteSink sink) {
  const ProcessInfo& process = profile.processes[line.times.process];
  const uint64_t number = per_thread ? static_cast<uint64_t>(line.times.tid) : line.threads;
  sink(absl::StrFormat("%-16s %8d %8d  %s\n", Printable(per_thread ? line.times.comm : process.name), process.key.pid,
                       number, Times(line.times)));
}

void WriteSum(const std::vector<LedgerEntry>& threads, ByteSink sink) {
  LedgerEntry sum;
  for (const LedgerEntry& thread : threads) AddTimes(thread, sum);
  sink(absl::StrFormat("%-16s %8s %8s  %s\n", "all", "", "", Times(sum)));
  for (size_t i = 0; i < sum.lost_ns.size(); ++i) {
    if (sum.lost_ns[i] == 0) continue;
    sink(absl::StrCat("  lost: ", std::string(Name(static_cast<LostTime>(i))), ", ", FormatDuration(sum.lost_ns[i]),
                      "\n"));
  }
}

}  // namespace

void WriteLedgerTable(const NamedProfile& profile, size_t limit, ByteSink sink) {
  if (profile.ledger.empty()) return;
  const bool per_thread =
      std::any_of(profile.rows.begin(), profile.rows.end(), [](const ProfileRow& row) { return row.tid != 0; });
  std::vector<Line> lines = LinesOf(profile.ledger, per_thread);
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return BusyNs(a) > BusyNs(b); });
  sink(absl::StrFormat("%-16s %8s %8s  %9s %9s %9s %9s %9s %9s %9s\n", per_thread ? "THREAD" : "PROCESS", "PID",
                       per_thread ? "TID" : "THREADS", "WALL", "ON-CPU", "BLOCKED", "RUNNABLE", "STOLEN", "LOST",
                       "REST"));
  const size_t shown = std::min(limit, lines.size());
  for (size_t i = 0; i < shown; ++i) WriteLine(profile, lines[i], per_thread, sink);
  if (shown < lines.size()) sink(absl::StrCat("not shown: ", lines.size() - shown, "\n"));
  WriteSum(profile.ledger, sink);
}

}  // namespace offcpu
