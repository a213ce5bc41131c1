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
    "code without unwind tables: install or keep .eh_frame or .sframe, or build it with -fno-omit-frame-pointer";

constexpr std::string_view kLeftOut =
    "code that its file's unwind tables leave out, as tables of assembler code may: --verbose lists the files";

constexpr std::string_view kTableMissing =
    "code of a file whose unwind table is damaged, too large, or had no room: the lines of losses say which";

constexpr std::string_view kNotDescribed = "code that no unwind table describes: --verbose lists the files";

constexpr std::string_view kGenerated =
    "code that is in no file and has no unwind table: if the program compiles it, start it with frame pointers, if it "
    "has such an option";

constexpr std::string_view kGuessed =
    "perhaps whole: it went by frame pointers, which nothing proves but unwind tables (.eh_frame, .sframe)";

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
      return "deep stacks: a thread's next ones are copied further up";
    case EndReason::kOtherStack:
      return "signal handlers with stacks of their own: a thread's next captures have what they interrupted";
    case EndReason::kGuessedEnd:
      return kGuessed;
    case EndReason::kGeneratedCode:
      return kGenerated;
    case EndReason::kFrameLimit:
      return "deep stacks: --max-frames keeps more of them";
    case EndReason::kBadCfa:
      return "an unwind table that does not fit the stack, or a stack that the program has switched: --verbose lists "
             "the files";
    case EndReason::kBadMemory:
      return "an unwind table that names what lies outside of the stack: --verbose lists the files";
    case EndReason::kBadReturnAddress:
      return "a return address that is not in known code: the program has only just made it, another tool has replaced "
             "it (a probe of returns), or the unwind table is wrong: --verbose lists the files";
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
