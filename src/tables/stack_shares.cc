#include "tables/stack_shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "labels/no_row.h"
#include "profile/losses.h"

namespace offcpu {
namespace {

constexpr std::string_view kNoTable =
    "code without unwind tables: keep its .eh_frame or .sframe, or build it with -fno-omit-frame-pointer";

constexpr std::string_view kLeftOut =
    "code that its file's unwind tables leave out, often assembler code: --verbose lists the files";

constexpr std::string_view kTableMissing =
    "code of a file whose unwind table is damaged or too large, or found no room: the losses say which";

constexpr std::string_view kNotDescribed = "code that no unwind table describes: --verbose lists the files";

constexpr std::string_view kGenerated =
    "generated code without an unwind table: start the program with frame pointers, if it has an option for that";

constexpr std::string_view kGuessed =
    "perhaps whole: the walk followed frame pointers, and only unwind tables (.eh_frame, .sframe) prove an end";

std::string_view RemedyOfNoRow(NoRow why) {
  switch (why) {
    case NoRow::kNotKnown:
      return kNotDescribed;
    case NoRow::kNoTable:
      return kNoTable;
    case NoRow::kLeftOut:
      return kLeftOut;
    case NoRow::kTableMissing:
      return kTableMissing;
  }
  return "";
}

std::string_view RemedyOfEnd(const NamedUserStack& stack) {
  if (stack.end != EndReason::kNoRow || stack.frames.empty()) return RemedyOf(stack.end);
  return RemedyOfNoRow(WhyNoRow(stack.frames.back().code));
}

std::string GapName(NoUserStack missing, EndReason end) {
  if (missing != NoUserStack::kNone) return LossName(missing, false);
  const std::string name(Name(end));
  return end == EndReason::kGuessedEnd ? name : absl::StrCat("truncated: ", name);
}

}  // namespace

std::string_view RemedyOf(NoUserStack reason) { return InfoOf(reason).advice; }

std::string_view RemedyOf(EndReason reason) {
  switch (reason) {
    case EndReason::kNoRow:
      return kNotDescribed;
    case EndReason::kStackCopy:
      return "deep stacks: more is copied of a thread's next stacks";
    case EndReason::kOtherStack:
      return "signal handlers on their own stacks: a thread's next captures also copy the interrupted stack";
    case EndReason::kGuessedEnd:
      return kGuessed;
    case EndReason::kGeneratedCode:
      return kGenerated;
    case EndReason::kFrameLimit:
      return "deep stacks: --max-frames keeps more frames";
    case EndReason::kBadCfa:
      return "an unwind table does not fit the stack, or the program has switched stacks: --verbose lists the files";
    case EndReason::kBadMemory:
      return "an unwind table refers to memory outside of the stack: --verbose lists the files";
    case EndReason::kBadReturnAddress:
      return "a return address is not in known code: the program has only just made it, another tool has replaced it "
             "(uretprobes), or the unwind table is wrong; --verbose lists the files";
    case EndReason::kComplete:
    case EndReason::kExpression:
    case EndReason::kRegisterUnknown:
    case EndReason::kNotMapped:
    case EndReason::kMapsChanged:
    case EndReason::kUnread:
      return "";
  }
  return "";
}

StackShares SharesOf(const NamedProfile& profile) {
  StackShares shares;
  struct Gap {
    uint64_t ns = 0;
    std::map<std::string_view, uint64_t> remedies;  // by how much time each is for
  };
  std::map<std::pair<NoUserStack, EndReason>, Gap> gaps;
  for (const ProfileRow& row : profile.rows) {
    const NamedUserStack& user = profile.user_stacks[row.user_stack];
    if (row.kind == WaitKind::kRunning || user.overflow || user.missing == NoUserStack::kKernelThread) continue;
    shares.ns += row.total_ns();
    const bool has_stack = user.missing == NoUserStack::kNone;
    if (has_stack && user.end == EndReason::kComplete) {
      shares.complete_ns += row.total_ns();
    } else {
      Gap& gap = gaps[{user.missing, has_stack ? user.end : EndReason::kComplete}];
      gap.ns += row.total_ns();
      gap.remedies[has_stack ? RemedyOfEnd(user) : RemedyOf(user.missing)] += row.total_ns();
    }
  }
  for (const auto& [why, gap] : gaps) {
    if (gap.ns == 0) continue;
    const auto most = std::max_element(gap.remedies.begin(), gap.remedies.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    shares.gaps.push_back({.reason = GapName(why.first, why.second), .remedy = most->first, .ns = gap.ns});
  }
  std::stable_sort(shares.gaps.begin(), shares.gaps.end(),
                   [](const StackGap& a, const StackGap& b) { return a.ns > b.ns; });
  return shares;
}

}  // namespace offcpu
