// The status of what the kernel refused: PermissionDenied or Internal, by errno.
#ifndef OFFCPU_BPF_PROGRAMS_ERRNO_STATUS_H_
#define OFFCPU_BPF_PROGRAMS_ERRNO_STATUS_H_

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {

// PermissionDenied where a privilege is missing, else Internal.
inline absl::Status ErrnoStatus(const char* what, int error) {
  const std::string message = absl::StrCat(what, ": ", strerror(error));
  if (error == EPERM || error == EACCES) return absl::PermissionDeniedError(message);
  return absl::InternalError(message);
}

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_ERRNO_STATUS_H_
