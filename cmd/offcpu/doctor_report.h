// The checks of a host as text for people and as JSON for scripts. Pure functions.
//   {"can_record", "kernel", "user_stacks", "checks": [{"name", "verdict", "found", "lost", "advice"}]}
// "user_stacks" is "task work", "at once", "waiting only" or "unknown"; "lost" and "advice" are there unless the
// verdict is "ok".
#ifndef OFFCPU_CMD_OFFCPU_DOCTOR_REPORT_H_
#define OFFCPU_CMD_OFFCPU_DOCTOR_REPORT_H_

#include <vector>

#include "bpf_programs/checks.h"
#include "bytes/byte_sink.h"

namespace offcpu {

// `checks` are those of `facts`.
void WriteChecks(const HostFacts& facts, const std::vector<Check>& checks, ByteSink sink);
void WriteChecksJson(const HostFacts& facts, const std::vector<Check>& checks, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_DOCTOR_REPORT_H_
