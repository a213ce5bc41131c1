#include "export/answer_log.h"

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

// Empty: nothing is to be said.
std::string KindOf(const Judgement& judgement) {
  return judgement.kind.empty() ? "" : absl::StrCat(static_cast<int>(judgement.fate), " ", judgement.kind);
}

const char* Said(Fate fate) {
  switch (fate) {
    case Fate::kLater:
      return "accepts no windows at the moment; they are kept: ";
    case Fate::kRestLater:
      return "accepts only a part of a window at the moment; the rest is kept: ";
    case Fate::kRefused:
      return "refuses a window: ";
    case Fate::kDivided:
      return "refuses a window; its profiles are now sent one by one: ";
    case Fate::kDelivered:
      break;
  }
  return "accepts windows, but says: ";
}

}  // namespace

void AnswerLog::Add(const Judgement& judgement, Clock::time_point now) {
  const std::string kind = KindOf(judgement);
  if (judgement.may_be_of_a_part) {  // the next answer may be a good one, and this one come again
    if (!MaySay(kind, std::chrono::hours(1), now)) return;
  } else {
    if (kind == kind_ || !MaySay(kind, std::chrono::minutes(1), now)) return;
    kind_ = kind;
  }
  if (kind.empty()) return say_(false, absl::StrCat("windows reach ", url_, " again"));
  say_(true, absl::StrCat(url_, " ", Said(judgement.fate), judgement.reason));
}

bool AnswerLog::MaySay(const std::string& kind, Clock::duration pause, Clock::time_point now) {
  std::erase_if(quiet_, [now](const auto& entry) { return entry.second <= now; });
  return quiet_.size() < kMostKinds && quiet_.try_emplace(kind, now + pause).second;
}

}  // namespace offcpu
