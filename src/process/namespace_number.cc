#include "process/namespace_number.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "os/proc_file.h"

namespace offcpu {

int32_t NamespaceNumber(pid_t tid) {
  constexpr size_t kMaxThreadStatusBytes = 1 << 20;  // there may be 65,536 groups
  const absl::StatusOr<std::string> status =
      ReadProcFile(absl::StrCat("/proc/", tid, "/status"), kMaxThreadStatusBytes);
  if (!status.ok()) return 0;
  const size_t begin = status->find("\nNSpid:");
  if (begin == std::string::npos) return 0;
  const std::string line = status->substr(begin + 1, status->find('\n', begin + 1) - begin - 1);
  int32_t number = 0;
  return absl::SimpleAtoi(line.substr(line.rfind('\t') + 1), &number) ? number : 0;
}

}  // namespace offcpu
