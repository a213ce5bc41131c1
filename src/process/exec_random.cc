#include "process/exec_random.h"

#include <elf.h>

#include <cstring>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "os/proc_file.h"
#include "process/memory.h"

namespace offcpu {

std::optional<ExecRandom> ReadExecRandom(pid_t pid) {
  constexpr size_t kMaxAuxvBytes = 4096;
  const absl::StatusOr<std::string> auxv = ReadProcFile(absl::StrCat("/proc/", pid, "/auxv"), kMaxAuxvBytes);
  if (!auxv.ok()) return std::nullopt;
  Elf64_auxv_t entry;
  for (size_t at = 0; at + sizeof(entry) <= auxv->size(); at += sizeof(entry)) {
    std::memcpy(&entry, auxv->data() + at, sizeof(entry));
    if (entry.a_type == AT_RANDOM) return ProcessMemory(pid).ReadValue<ExecRandom>(entry.a_un.a_val);
  }
  return std::nullopt;
}

}  // namespace offcpu
