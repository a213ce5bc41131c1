// The stacks of every thread of one process at one moment, for `offcpu stacks`: as text for people, leaf first, where
// threads that wait alike are one entry with the tids of all, and as JSON for scripts, with an element for each:
//   {"pid", "name", "deadlocks": [[tid, ...]],
//    "threads": [{"tid", "comm", "state", "off_cpu_ns", "lock_owner", "kernel": [{"name", "address"}], user stack}]}
// with the fields of stack_json.h; "off_cpu_ns" and "lock_owner", a tid, are there only if they are known,
// "missing_functions", why the functions of an interpreter are missing, only if they are, and "deadlocks"
// (deadlocks.h) only if there are some.
//
// The profile is of one process, and each of its rows is one thread: the kind is the state that it is in, the times say
// how long it has been off the CPU so far (0: not known). A running thread has no stacks, NoUserStack::kOnCpu.
#ifndef OFFCPU_TABLES_THREAD_STACKS_H_
#define OFFCPU_TABLES_THREAD_STACKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "bytes/byte_sink.h"
#include "profile/named_profile.h"

namespace offcpu {

// What a profile has no place for. What is missing in it is not shown.
struct ThreadDetails {
  std::vector<std::vector<uint64_t>> pcs;  // where frames lie in the process, parallel to NamedProfile::user_stacks
  std::vector<int32_t> lock_owners;        // that hold the mutexes of waiting threads, parallel to the rows; 0: none
  std::vector<std::string_view>
      missing_functions;  // why an interpreter's are, parallel to the rows; empty: they are not
};

void WriteThreadStacks(const NamedProfile& profile, const ThreadDetails& details, ByteSink sink);
void WriteThreadStacksJson(const NamedProfile& profile, const ThreadDetails& details, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_THREAD_STACKS_H_
