// A whole profile as one JSON object, for scripts:
//   {"start_unix_ns", "duration_ns", "total_ns", "host", "stacks": [...], "idle": [...], "stats": {...}}
// A sample also has "total_ns_error", and "unsampled_most_ns", the most that waits of which none was sampled may be in
// any row, or in none; and its stacks have the fields of WriteErrorsJson (stats_json.h). A stack is one row of the
// profile: {"process", "pid", "comm", "kind", "cause", "syscall", "idle", "count", "blocked_ns", "runnable_ns",
// "max_ns", the user stack's fields (stack_json.h), "kernel": ["name"]}, frames leaf first. "idle" is there if it is a
// wait for work: the pattern that says so, of which the list has {"name", "count", "blocked_ns"}.
#ifndef OFFCPU_JSON_PROFILE_JSON_H_
#define OFFCPU_JSON_PROFILE_JSON_H_

#include "bytes/byte_sink.h"
#include "profile/named_profile.h"

namespace offcpu {

void WriteProfileJson(const NamedProfile& profile, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_JSON_PROFILE_JSON_H_
