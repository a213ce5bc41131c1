#include "tables/summary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "classify/idle.h"
#include "labels/row_error.h"
#include "labels/row_value.h"
#include "profile/losses.h"
#include "tables/cost_text.h"
#include "tables/row_groups.h"
#include "tables/stack_shares.h"

namespace offcpu {
namespace {

std::string Share(std::string_view name, uint64_t part, uint64_t whole) {
  return absl::StrCat(std::string(name), " ", FormatPercent(part, whole));
}

// Whole walks by the source of their rows; where it was not one source alone, "mixed".
std::string CompleteShares(const ProfileStats& stats) {
  uint64_t mixed = stats.walk_ends[static_cast<size_t>(EndReason::kComplete)];
  std::vector<std::string> shares;
  for (size_t i = 0; i < stats.complete_walks_by_source.size(); ++i) {
    uint64_t walks = stats.complete_walks_by_source[i];
    mixed -= walks <= mixed ? walks : mixed;
    if (walks != 0) shares.push_back(Share(Name(static_cast<FrameSource>(i)), walks, stats.walks));
  }
  if (mixed != 0) shares.push_back(Share("mixed", mixed, stats.walks));
  return absl::StrJoin(shares, ", ");
}

// The sums of the lines of the tables: stacks, and programs.
std::vector<RowSums> LinesOf(const NamedProfile& profile, std::span<const NamedRow> rows) {
  const std::vector<uint32_t> programs = SameProcesses(profile, RowsApart::kPrograms);
  std::vector<RowSums> lines(profile.processes.size());
  for (const NamedRow& row : rows) lines[programs[row.process]].Add(row);
  for (const RowGroup& stack : GroupStacks(profile, rows, RowsApart::kPrograms)) lines.push_back(stack.row);
  return lines;
}

std::string AccuracyOf(const NamedProfile& profile, std::span<const NamedRow> rows) {
  const std::vector<RowSums> lines = IsSample(profile) ? LinesOf(profile, rows) : std::vector<RowSums>();
  return AccuracyText(profile, lines, Total(rows, RowValue::kOffCpu));
}

// But for those that may be whole.
std::string IncompleteShares(const ProfileStats& stats) {
  std::vector<std::string> shares;
  for (size_t i = 0; i < stats.walk_ends.size(); ++i) {
    auto end = static_cast<EndReason>(i);
    if (end != EndReason::kComplete && end != EndReason::kGuessedEnd && stats.walk_ends[i] != 0) {
      shares.push_back(Share(Name(end), stats.walk_ends[i], stats.walks));
    }
  }
  return absl::StrJoin(shares, ", ");
}

// Those that a row refers to.
size_t Stacks(const NamedProfile& profile, uint32_t ProfileRow::*stack) {
  absl::flat_hash_set<uint32_t> stacks;
  for (const ProfileRow& row : profile.rows) stacks.insert(row.*stack);
  return stacks.size();
}

// Why the time of day says another length.
std::string WhatClocksDid(const ProfileStats& stats) {
  std::vector<std::string> events;
  const auto add = [&events](const char* what, uint64_t ns) {
    if (ns != 0) events.push_back(absl::StrCat(what, FormatDuration(ns)));
  };
  add("the host was suspended for ", stats.suspended_ns);
  add("its clock was set forward by ", stats.clock_forward_ns);
  add("its clock was set back by ", stats.clock_back_ns);
  return absl::StrJoin(events, ", ");
}

void WriteRecorded(const NamedProfile& profile, ByteSink sink) {
  const ProfileStats& stats = profile.stats;
  sink(absl::StrFormat("recorded      %s: %d intervals of %d %s, %d rows\n", FormatDuration(profile.duration_ns),
                       stats.intervals, stats.processes, stats.processes == 1 ? "process" : "processes",
                       profile.rows.size()));
}

void WriteClocks(const ProfileStats& stats, ByteSink sink) {
  const std::string clocks = WhatClocksDid(stats);
  if (!clocks.empty()) sink(absl::StrCat("meanwhile     ", clocks, "\n"));
}

void WriteAccuracy(const NamedProfile& profile, const ShownRows& shown, ByteSink sink) {
  sink(absl::StrCat("accuracy      ", AccuracyOf(profile, shown.rows()), "\n"));
}

// Most of what a user wants to know of a recording; if it is less, the largest gaps, and what to do about them.
void WriteStackShares(const NamedProfile& profile, size_t most_gaps, ByteSink sink) {
  const StackShares shares = SharesOf(profile);
  if (shares.ns == 0) return;
  sink(absl::StrFormat("with stacks   %s of the time off a CPU has its whole user stack\n",
                       FormatPercent(shares.complete_ns, shares.ns)));
  if (shares.complete_ns >= shares.ns / 100 * 99) return;
  for (size_t i = 0; i < std::min(most_gaps, shares.gaps.size()); ++i) {
    const StackGap& gap = shares.gaps[i];
    sink(absl::StrFormat("  %s %s%s%s\n", FormatPercent(gap.ns, shares.ns), gap.reason, gap.remedy.empty() ? "" : ": ",
                         gap.remedy));
  }
}

// Where waits for work are hidden, the tables tell of the rest alone, and that may be next to nothing. A thread that
// waits for work may do so for a request that waits elsewhere: an event loop waits there for answers of other servers,
// too. The answer ends that wait. Threads that only sleep, as those that wait for a signal, have waited longer, but not
// for requests.
void WriteHidden(const NamedProfile& profile, const ShownRows& shown, ByteSink sink) {
  const std::vector<IdleSum>& sums = shown.sums();
  const RowSums all = SumOf(profile.rows);
  const uint64_t all_ns = all.total_ns();
  const uint64_t hidden_ns = TotalOf(sums).blocked_ns;
  if (hidden_ns == 0 || hidden_ns > all_ns) return;
  sink(absl::StrFormat("off a CPU     %s: %s waiting for work, hidden; the rest is %s\n",
                       WithError(FormatDuration(all_ns), all, RowValue::kOffCpu), FormatPercent(hidden_ns, all_ns),
                       WithError(FormatDuration(all_ns - hidden_ns), SumOf(shown.rows()), RowValue::kOffCpu)));
  if (hidden_ns <= all_ns / 2) return;
  const auto most = std::max_element(sums.begin(), sums.end(), [](const IdleSum& a, const IdleSum& b) {
    return std::tie(a.ended_ns, a.blocked_ns) < std::tie(b.ended_ns, b.blocked_ns);
  });
  sink(absl::StrFormat("  %-11s %s, %s: may include waits for other servers\n",
                       most->ended_ns == 0 ? "most at" : "woken at", Printable(most->name),
                       FormatDuration(most->blocked_ns)));
}

void WriteWalks(const ProfileStats& stats, ByteSink sink) {
  const auto ended = [&stats](EndReason end) { return stats.walk_ends[static_cast<size_t>(end)]; };
  const std::string complete = CompleteShares(stats);
  sink(absl::StrFormat("user walks    %d, complete %s%s\n", stats.walks,
                       FormatPercent(ended(EndReason::kComplete), stats.walks),
                       complete.empty() ? "" : absl::StrCat(" (", complete, ")")));
  if (ended(EndReason::kGuessedEnd) != 0) {
    sink(absl::StrCat("  guessed end ", FormatPercent(ended(EndReason::kGuessedEnd), stats.walks),
                      ", perhaps complete: nothing proves that the outermost frame has no caller\n"));
  }
  const std::string incomplete = IncompleteShares(stats);
  if (!incomplete.empty()) sink(absl::StrCat("  truncated   ", incomplete, "\n"));
}

void WriteCost(const ProfileStats& stats, ByteSink sink) {
  const std::string cost = CostText(stats);
  if (cost.empty()) return;
  sink(absl::StrFormat("cost          %s; %.1f MiB\n", cost, static_cast<double>(stats.own_memory_bytes) / (1 << 20)));
}

// What the rest of the walks came to: such a wait has a capture, if there was budget for it.
void WriteWalkMisses(const ProfileStats& stats, ByteSink sink) {
  std::vector<std::string> misses;
  for (size_t i = 0; i < stats.walk_misses.size(); ++i) {
    if (stats.walk_misses[i] == 0) continue;
    misses.push_back(absl::StrFormat("%d %s", stats.walk_misses[i], std::string(Name(static_cast<WalkMiss>(i)))));
  }
  if (!misses.empty()) sink(absl::StrCat("  missed      ", absl::StrJoin(misses, ", "), "\n"));
}

void WriteLosses(const ProfileStats& stats, ByteSink sink) {
  if (stats.losses.empty()) return sink("lost          nothing\n");
  sink("lost or without a stack\n");
  for (const Loss& loss : stats.losses) {
    std::string time = loss.ns == 0 ? "" : FormatDuration(loss.ns);
    sink(absl::StrFormat("  %-36s %10d  %s\n", Printable(loss.reason), loss.count, time));
  }
}

// Is time missing in the profile with it?
bool TakesTime(const Loss& loss) {
  return std::any_of(kLosses.begin(), kLosses.end(),
                     [&loss](const LossInfo& info) { return info.takes_time && info.name == loss.reason; });
}

// The losses that make times wrong, each with its own line. What only lacks a stack is in the shares of stacks.
void WriteLostTime(const ProfileStats& stats, ByteSink sink) {
  if (stats.losses.empty()) return sink("lost          nothing\n");
  if (std::none_of(stats.losses.begin(), stats.losses.end(), TakesTime)) return sink("lost          no time\n");
  for (const Loss& loss : stats.losses) {
    if (!TakesTime(loss)) continue;
    sink(absl::StrFormat("lost          %s: %d%s\n", Printable(loss.reason), loss.count,
                         loss.ns == 0 ? "" : absl::StrCat(", ", FormatDuration(loss.ns))));
  }
}

}  // namespace

void WriteShortSummary(const NamedProfile& profile, bool hide_idle, ByteSink sink) {
  constexpr size_t kMostGaps = 1;
  const ShownRows shown(profile, hide_idle);
  WriteRecorded(profile, sink);
  if (hide_idle) WriteHidden(profile, shown, sink);
  WriteStackShares(profile, kMostGaps, sink);
  WriteClocks(profile.stats, sink);
  WriteAccuracy(profile, shown, sink);
  WriteLostTime(profile.stats, sink);
}

void WriteSummary(const NamedProfile& profile, bool hide_idle, ByteSink sink) {
  constexpr size_t kMostGaps = 3;
  const ProfileStats& stats = profile.stats;
  WriteRecorded(profile, sink);
  const ShownRows shown(profile, hide_idle);
  if (hide_idle) WriteHidden(profile, shown, sink);
  WriteStackShares(profile, kMostGaps, sink);
  WriteClocks(stats, sink);
  sink(absl::StrFormat("stacks        %d user, %d kernel; %d captures for %d kernel entries\n",
                       Stacks(profile, &ProfileRow::user_stack), Stacks(profile, &ProfileRow::kernel_stack),
                       stats.captures, stats.cookies));
  if (stats.walked_at_switch != 0) {
    sink(absl::StrFormat("  at switches %d waits walked, without captures; %d summed there; %d proven\n",
                         stats.walked_at_switch, stats.summed_at_switch, stats.proven_walks));
    WriteWalkMisses(stats, sink);
    if (stats.told_rows != 0) {
      sink(absl::StrFormat("  known       %d unwind rows and %d user stacks in the kernel\n", stats.told_rows,
                           stats.told_stacks));
    }
  }
  if (stats.captures != 0 && stats.capture_ns != 0) {
    sink(absl::StrFormat("in targets    %s per capture, %s at most\n",
                         FormatDuration(stats.capture_ns / stats.captures), FormatDuration(stats.capture_longest_ns)));
  }
  WriteCost(stats, sink);
  WriteAccuracy(profile, shown, sink);
  if (stats.oncpu_period_ns != 0) {
    sink(absl::StrFormat("on a CPU      %d samples that stand for %s\n", stats.oncpu_samples,
                         FormatDuration(Total(profile.rows, RowValue::kCpu))));
  }
  if (stats.slept_throughout != 0) {
    sink(absl::StrFormat("asleep        %d threads slept through the whole recording\n", stats.slept_throughout));
  }
  WriteWalks(stats, sink);
  WriteLosses(stats, sink);
}

}  // namespace offcpu
