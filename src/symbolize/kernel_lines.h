// Where the running kernel's own code is, and which debug file has its lines. The kernel moves its code when it starts
// (KASLR), so that addresses differ from those in the file by one offset. Modules, which are linked one by one as they
// are loaded, are not covered. Safe from any thread.
#ifndef OFFCPU_SYMBOLIZE_KERNEL_LINES_H_
#define OFFCPU_SYMBOLIZE_KERNEL_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "os/owned_fd.h"

namespace offcpu {

struct KernelCode {
  std::string build_id;  // in lower-case hex
  uint64_t begin = 0;    // where it is in memory
  uint64_t end = 0;
};

// From the texts of /proc/kallsyms and /sys/kernel/notes. Nothing if the kernel hides its addresses or has no build id.
std::optional<KernelCode> RunningKernel(std::string_view kallsyms, std::string_view notes);

// The first of DIRECTORY/.build-id/xx/yyy.debug, DIRECTORY/lib/modules/RELEASE/vmlinux and
// DIRECTORY/boot/vmlinux-RELEASE that carries the kernel's build id, where RELEASE is what uname says. Empty if there
// is none.
OwnedFd OpenKernelDebugFile(const KernelCode& kernel, const std::string& directory);

// How much higher the code is in memory than in its file; less than nothing wraps around. Nothing if the file has none.
std::optional<uint64_t> KernelOffset(const KernelCode& kernel, const OwnedFd& file);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_KERNEL_LINES_H_
