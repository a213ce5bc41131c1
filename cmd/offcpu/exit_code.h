// What offcpu's exit status says; docs/offcpu.1 lists the same.
#ifndef OFFCPU_CMD_OFFCPU_EXIT_CODE_H_
#define OFFCPU_CMD_OFFCPU_EXIT_CODE_H_

#include "absl/status/status.h"

namespace offcpu {

// Of `record` with a COMMAND it is COMMAND's own, if all went well.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,       // the recording, or writing its result
  kExitUsage = 2,        // an option or its value: nothing was recorded
  kExitUnsupported = 3,  // a missing capability, or a kernel without what is needed
  kExitCannotRun = 126,  // COMMAND is there but cannot be run
  kExitCommandUnknown = 127,
};

inline ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      return kExitUsage;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:
      return kExitUnsupported;
    default:
      return kExitFailed;
  }
}

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_EXIT_CODE_H_
