#include "tables/stack_shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profile/losses.h"

namespace offcpu {
namespace {

constexpr std::string_view kNoTable =
    "code without unwind tables: install or keep .eh_frame or .sframe, or build it with -fno-omit-frame-pointer";

constexpr std::string_view kGenerated =
    "code that the program has compiled itself: start it with frame pointers, if it has such an option";

constexpr std::string_view kGuessed = "perhaps whole, perhaps code without frame pointers: build or start it with them";

std::string GapName(NoUserStack missing, EndReason end) {
  if (missing != NoUserStack::kNone) return DropName(missing, false);
  const std::string name(Name(end));
  return end == EndReason::kGuessedEnd ? name : absl::StrCat("truncated: ", name);
}

}  // namespace

std::string_view RemedyOf(NoUserStack reason) { return InfoOf(reason).advice; }

std::string_view RemedyOf(EndReason reason) {
  switch (reason) {
    case EndReason::kNoRow:
      return kNoTable;
    case EndReason::kStackCopy:
      return "deep stacks: a thread's next ones are copied further up";
    case EndReason::kOtherStack:
      return "signal handlers with stacks of their own: a thread's next captures have what they interrupted";
    case EndReason::kGuessedEnd:
      return kGuessed;
    case EndReason::kGeneratedCode:
      return kGenerated;
    case EndReason::kFrameLimit:
      return "deep stacks: --max-frames keeps more of them";
    case EndReason::kComplete:
    case EndReason::kExpression:
    case EndReason::kRegisterUnknown:
    case EndReason::kBadCfa:
    case EndReason::kBadReturnAddress:
    case EndReason::kBadMemory:
    case EndReason::kNotMapped:
    case EndReason::kMapsChanged:
    case EndReason::kUnread:
      return "";
  }
  return "";
}

StackShares SharesOf(const NamedProfile& profile) {
  StackShares shares;
  std::map<std::pair<NoUserStack, EndReason>, uint64_t> gaps;
  for (const ProfileRow& row : profile.rows) {
    const NamedUserStack& user = profile.user_stacks[row.user_stack];
    if (row.kind == WaitKind::kRunning || user.overflow || user.missing == NoUserStack::kKernelThread) continue;
    shares.ns += row.total_ns();
    const bool has_stack = user.missing == NoUserStack::kNone;
    if (has_stack && user.end == EndReason::kComplete) {
      shares.complete_ns += row.total_ns();
    } else {
      gaps[{user.missing, has_stack ? user.end : EndReason::kComplete}] += row.total_ns();
    }
  }
  for (const auto& [why, ns] : gaps) {
    const auto& [missing, end] = why;
    if (ns == 0) continue;
    shares.gaps.push_back({.reason = GapName(missing, end),
                           .remedy = missing == NoUserStack::kNone ? RemedyOf(end) : RemedyOf(missing),
                           .ns = ns});
  }
  std::stable_sort(shares.gaps.begin(), shares.gaps.end(),
                   [](const StackGap& a, const StackGap& b) { return a.ns > b.ns; });
  return shares;
}

}  // namespace offcpu
