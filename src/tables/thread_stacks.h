// The stacks of every thread of one process at one moment, for `offcpu stacks`: as text for people, leaf first, where
// threads that wait alike are one entry with the tids of all, and as JSON for scripts, with an element for each:
//   {"pid", "name", "threads": [{"tid", "comm", "state", "off_cpu_ns", "kernel": [{"name", "address"}], user stack}]}
// with the fields of stack_json.h; "off_cpu_ns" is there only if it is known.
//
// The profile is of one process, and each of its rows is one thread: the kind is the state that it is in, the times say
// how long it has been off the CPU so far (0: not known). A running thread has no stacks, NoUserStack::kOnCpu.
#ifndef OFFCPU_TABLES_THREAD_STACKS_H_
#define OFFCPU_TABLES_THREAD_STACKS_H_

#include <cstdint>
#include <vector>

#include "bytes/byte_sink.h"
#include "profile/named_profile.h"

namespace offcpu {

// Where frames lie in the process, parallel to NamedProfile::user_stacks. What is missing in it is not shown.
using FramePcs = std::vector<std::vector<uint64_t>>;

void WriteThreadStacks(const NamedProfile& profile, const FramePcs& pcs, ByteSink sink);
void WriteThreadStacksJson(const NamedProfile& profile, const FramePcs& pcs, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_THREAD_STACKS_H_
