#include "export/answer_log.h"

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

// Of what is to be said of an answer, "HTTP 503: try later (request 17)": in the words of others there may be something
// new each time. Empty: nothing is.
std::string KindOf(const Judgement& judgement) {
  const std::string& reason = judgement.reason;
  if (reason.empty()) return "";
  return absl::StrCat(static_cast<int>(judgement.fate), judgement.what,
                      reason.starts_with("HTTP ") ? reason.substr(0, reason.find(':')) : "");
}

const char* Said(Fate fate) {
  switch (fate) {
    case Fate::kLater:
      return "does not take windows, which are kept: ";
    case Fate::kRestLater:
      return "does not take all of a window, whose rest is kept: ";
    case Fate::kRefused:
      return "refuses a window: ";
    case Fate::kDivided:
      return "refuses a window, whose profiles are sent one by one: ";
    case Fate::kDelivered:
      break;
  }
  return "takes windows, but says: ";
}

}  // namespace

void AnswerLog::Add(const Judgement& judgement, Clock::time_point now) {
  std::string kind = KindOf(judgement);
  if (judgement.may_be_of_a_part) {  // the next answer may be a good one, and this one come again
    if (!IsNewRefusal(judgement, now)) return;
  } else {
    if (kind == kind_) return;
    kind_ = std::move(kind);
  }
  if (judgement.reason.empty()) return say_(false, absl::StrCat("windows reach ", url_, " again"));
  say_(true, absl::StrCat(url_, " ", Said(judgement.fate), ReasonOf(judgement)));
}

bool AnswerLog::IsNewRefusal(const Judgement& judgement, Clock::time_point now) {
  if (refusals_.empty() || now - since_ > std::chrono::hours(1)) {
    refusals_.clear();
    since_ = now;
  }
  return refusals_.size() < kMostRefusals && refusals_.insert(KindOf(judgement)).second;
}

}  // namespace offcpu
