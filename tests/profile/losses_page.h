// The man page offcpu-losses(7), made of the catalogue.
#ifndef OFFCPU_TESTS_PROFILE_LOSSES_PAGE_H_
#define OFFCPU_TESTS_PROFILE_LOSSES_PAGE_H_

#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "profile/losses.h"

namespace offcpu {

inline std::string Roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '-' ? "\\-" : std::string(1, c);
  return escaped;
}

// Advice that continues a line of the summary, as a sentence; the name of the program stays as it is.
inline std::string Sentence(std::string text) {
  if (!text.starts_with("offcpu")) text[0] = absl::ascii_toupper(text[0]);
  return text + ".\n";
}

inline std::string LossesPage() {
  std::string page =
      ".\\\" Made of src/profile/losses.cc by profile_test; see CONTRIBUTING.md.\n"
      ".TH OFFCPU\\-LOSSES 7\n"
      ".nh\n"
      ".SH NAME\n"
      "offcpu\\-losses \\- what a recording may lack, and what to do about it\n"
      ".SH DESCRIPTION\n"
      "The summary of a recording names each loss that occurred, with its count and its time.\n"
      "The metrics offcpud_dropped_total and offcpud_dropped_seconds_total of\n"
      ".BR offcpud (8)\n"
      "have the same names as labels.\n"
      "A loss has a series there once it has occurred.\n"
      "Where this page says so, the time of the loss is missing in the profile.\n"
      "Otherwise the profile has all of the time, and lacks something else.\n"
      ".SH LOSSES\n";
  for (const LossInfo& info : kLosses) {
    page += ".TP\n.B " + Roff(info.name) + "\n" + Roff(info.meaning) + "\n";
    if (info.takes_time)
      page += "The time is missing in the profile" +
              std::string(info.ledger.has_value() ? ". The ledger has it as a term.\n" : ".\n");
    if (!info.advice.empty()) page += Roff(info.advice) + "\n";
  }
  page +=
      ".SH WHY A WAIT HAS NO USER STACK\n"
      "The loss is called \"no user stack: REASON\".\n"
      "If the stack is that of a waker, it is called \"no user stack of the waker: REASON\".\n"
      "The time of the waits is in the profile.\n";
  for (const NoUserStackInfo& info : kNoUserStacks) {
    if (info.reason == NoUserStack::kNone) continue;
    page += ".TP\n.B " + Roff(Name(info.reason)) + "\n" + Roff(info.meaning) + "\n";
    if (!info.advice.empty()) page += Sentence(Roff(info.advice));
  }
  page +=
      ".SH WHY A PERF MAP IS REFUSED\n"
      "A perf map is the file /tmp/perf\\-PID.map, in which a runtime names the code that it has compiled.\n"
      "offcpu uses the file only if all of this is true:\n"
      ".IP \\(bu 2\n"
      "It belongs to the user of the process or to root.\n"
      ".IP \\(bu 2\n"
      "The process can read it, and not everybody can write to it.\n"
      ".IP \\(bu 2\n"
      "It is a regular file with one name, and is reached through no symbolic link and no mount.\n"
      ".PP\n"
      "Otherwise the code has no names, and the loss is called \"perf map refused: REASON\".\n"
      "Reasons:\n";
  for (size_t i = 1; i < kFileRefusals; ++i)
    page += Roff(Name(static_cast<FileRefusal>(i))) + (i + 1 < kFileRefusals ? ",\n" : ".\n");
  page += ".SH SEE ALSO\n.BR offcpu (1),\n.BR offcpud (8)\n";
  return page;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILE_LOSSES_PAGE_H_
