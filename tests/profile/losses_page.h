// The man page offcpu-losses(7), made of the catalogue.
#ifndef OFFCPU_TESTS_PROFILE_LOSSES_PAGE_H_
#define OFFCPU_TESTS_PROFILE_LOSSES_PAGE_H_

#include <string>
#include <string_view>

#include "profile/losses.h"

namespace offcpu {

inline std::string Roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '-' ? "\\-" : std::string(1, c);
  return escaped;
}

inline std::string LossesPage() {
  std::string page =
      ".\\\" Made of src/profile/losses.cc by profile_test; see CONTRIBUTING.md.\n"
      ".TH OFFCPU\\-LOSSES 7\n"
      ".SH NAME\n"
      "offcpu\\-losses \\- what a recording may lack, and what to do about it\n"
      ".SH DESCRIPTION\n"
      "The summary of a recording names each loss or limit that it met, how often, and the time that goes with it.\n"
      "The same names are labels of the series offcpud_dropped_total and offcpud_dropped_seconds_total of\n"
      ".BR offcpud (8),\n"
      "all of which are there from the start.\n"
      "Where it says so, the time of the loss is missing in the profile; everywhere else the profile has all of the "
      "time,\n"
      "and lacks something else.\n"
      ".SH LOSSES\n";
  for (const LossInfo& info : kLosses) {
    page += ".TP\n.B " + Roff(info.name) + "\n" + Roff(info.meaning) + "\n";
    if (info.takes_time)
      page += "The time is missing in the profile" +
              std::string(info.ledger.has_value() ? ", and a term of the ledger.\n" : ".\n");
    if (!info.advice.empty()) page += Roff(info.advice) + "\n";
  }
  page +=
      ".SH WHY A WAIT HAS NO USER STACK\n"
      "The losses are called \"no user stack: REASON\", and those of wakers \"no user stack of the waker: REASON\".\n"
      "The time of the waits is in the profile.\n";
  for (const NoUserStackInfo& info : kNoUserStacks) {
    if (info.reason == NoUserStack::kNone) continue;
    page += ".TP\n.B " + Roff(Name(info.reason)) + "\n" + Roff(info.meaning) + "\n";
    if (!info.advice.empty()) page += "What to do: " + Roff(info.advice) + ".\n";
  }
  page +=
      ".SH WHY A MAP OF GENERATED CODE IS NOT TAKEN\n"
      "A runtime may say in a file, /tmp/perf\\-PID.map, what the code that it has made is called.\n"
      "offcpu takes the file only if it is a regular file with one name, which the process can read and not everybody\n"
      "can write, of the user of the process or of root, behind no symbolic link and no mount.\n"
      "Else the code has no names, and the loss is called \"perf map refused: REASON\".\n"
      "Reasons:\n";
  for (size_t i = 1; i < kPerfMapRefusals; ++i)
    page += Roff(Name(static_cast<PerfMapRefusal>(i))) + (i + 1 < kPerfMapRefusals ? ",\n" : ".\n");
  page += ".SH SEE ALSO\n.BR offcpu (1),\n.BR offcpud (8)\n";
  return page;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILE_LOSSES_PAGE_H_
