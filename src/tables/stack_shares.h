// How much of the time off a CPU has a complete user stack, why the rest has none, and what a user can do about it.
#ifndef OFFCPU_TABLES_STACK_SHARES_H_
#define OFFCPU_TABLES_STACK_SHARES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/named_profile.h"

namespace offcpu {

// Time without a complete user stack, for one reason.
struct StackGap {
  std::string reason;       // "no user stack: budget", "truncated: no row", "guessed end"
  std::string_view remedy;  // what to do about it; empty: nothing
  uint64_t ns = 0;
};

struct StackShares {
  uint64_t ns = 0;             // off a CPU, of threads that have a user stack
  uint64_t complete_ns = 0;    // and with all of it
  std::vector<StackGap> gaps;  // the largest first
};

StackShares SharesOf(const NamedProfile& profile);

// What a user can do so that fewer stacks are missing, or end early, for this reason; empty: nothing.
std::string_view RemedyOf(NoUserStack reason);
std::string_view RemedyOf(EndReason reason);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_STACK_SHARES_H_
