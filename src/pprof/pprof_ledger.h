// The ledger in a pprof file, which has no place for it: a comment for each entry. Pure functions.
#ifndef OFFCPU_PPROF_PPROF_LEDGER_H_
#define OFFCPU_PPROF_PPROF_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace offcpu {

// How many entries a file may hold: more than a recording does.
inline constexpr size_t kMaxLedgerEntries = 1 << 18;

// An entry each: "PROCESS PID TID WALL ON-CPU BLOCKED RUNNABLE STOLEN LOST... LENGTH NAME COMM". PROCESS counts the
// processes, LENGTH is that of the process's name. Names are valid UTF-8 without control characters.
std::vector<std::string> LedgerTexts(const ProfileFacts& profile);

// Adds the entry to `profile`, and its process if the entry before it is of another one. False if it is none.
class LedgerReader {
 public:
  explicit LedgerReader(ProfileFacts& profile) : profile_(profile) {}
  bool Read(std::string_view text);

 private:
  ProfileFacts& profile_;
  uint64_t process_ = 0;  // of the entry before
};

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_LEDGER_H_
