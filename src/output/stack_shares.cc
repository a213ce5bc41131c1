#include "output/stack_shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr std::string_view kTooFast =
    "more came than offcpu could take: leave out short waits (--min-wait), or record fewer processes (-p, --cgroup)";
constexpr std::string_view kNoTable =
    "code without unwind tables: install or keep .eh_frame or .sframe, or build it with -fno-omit-frame-pointer";

}  // namespace

std::string_view RemedyOf(NoUserStack reason) {
  switch (reason) {
    case NoUserStack::kBudget:
      return "more was recorded than may be copied: leave out --sample, so that it follows the load";
    case NoUserStack::kRingFull:
    case NoUserStack::kNoBuffer:
    case NoUserStack::kLost:
    case NoUserStack::kOverload:
      return kTooFast;
    case NoUserStack::kTargetStuck:
      return "reading the process hangs: is it on a file system that does not answer?";
    case NoUserStack::kUnreadableProcess:
      return "see `offcpu doctor`: CAP_SYS_PTRACE may be missing";
    case NoUserStack::kSwitchedOff:
      return "the process waits so often that copying its stacks took too much of its time: leave out --sample, so "
             "that "
             "it follows the load";
    case NoUserStack::kUnsupported:
      return "see `offcpu doctor`: this kernel does not let user stacks be copied";
    case NoUserStack::kNone:
    case NoUserStack::kUnreadable:
    case NoUserStack::kExiting:
    case NoUserStack::kExec:
    case NoUserStack::kPending:
    case NoUserStack::kGone:
    case NoUserStack::kStale:
    case NoUserStack::kKernelThread:
    case NoUserStack::kOnCpu:
    case NoUserStack::kNotAsked:
      return "";
  }
  return "";
}

std::string_view RemedyOf(EndReason reason) {
  switch (reason) {
    case EndReason::kNoRow:
      return kNoTable;
    case EndReason::kWindow:
    case EndReason::kFrameLimit:
      return "deep stacks: a thread's next ones are copied further up";
    case EndReason::kComplete:
    case EndReason::kExpression:
    case EndReason::kRegisterUnknown:
    case EndReason::kBadCfa:
    case EndReason::kBadReturnAddress:
    case EndReason::kBadMemory:
    case EndReason::kNotMapped:
    case EndReason::kMapsChanged:
    case EndReason::kOtherStack:
    case EndReason::kUnread:
      return "";
  }
  return "";
}

StackShares SharesOf(const Profile& profile) {
  StackShares shares;
  std::map<std::pair<NoUserStack, EndReason>, uint64_t> gaps;
  for (const ProfileRow& row : profile.rows) {
    const UserStackEntry& user = profile.user_stacks[row.user_stack];
    if (row.kind == WaitKind::kRunning || user.overflow || user.filtered || user.missing == NoUserStack::kKernelThread)
      continue;
    shares.ns += row.total_ns();
    const bool has_stack = user.missing == NoUserStack::kNone;
    if (has_stack && user.stack.end == EndReason::kComplete) {
      shares.complete_ns += row.total_ns();
    } else {
      gaps[{user.missing, has_stack ? user.stack.end : EndReason::kComplete}] += row.total_ns();
    }
  }
  for (const auto& [why, ns] : gaps) {
    const auto& [missing, end] = why;
    if (ns == 0) continue;
    const bool has_stack = missing == NoUserStack::kNone;
    shares.gaps.push_back({.reason = has_stack ? absl::StrCat("truncated: ", std::string(Name(end)))
                                               : absl::StrCat("no user stack: ", std::string(Name(missing))),
                           .remedy = has_stack ? RemedyOf(end) : RemedyOf(missing),
                           .ns = ns});
  }
  std::stable_sort(shares.gaps.begin(), shares.gaps.end(),
                   [](const StackGap& a, const StackGap& b) { return a.ns > b.ns; });
  return shares;
}

}  // namespace offcpu
