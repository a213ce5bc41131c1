// The program that a process runs. No state; safe from any thread. Does not read the program, and does not block.
#ifndef OFFCPU_PROCESS_EXECUTABLE_H_
#define OFFCPU_PROCESS_EXECUTABLE_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace offcpu {

inline constexpr size_t kMostExecutableBytes = 1024;  // its owner chooses the path

// The path of its file, as the process itself sees it; "" if the process is gone or runs none (a thread of the kernel),
// if the path is longer than kMostExecutableBytes, or without CAP_SYS_PTRACE for the processes of others. A file that
// was removed has the path that it had.
std::string ExecutableOf(pid_t pid);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_EXECUTABLE_H_
