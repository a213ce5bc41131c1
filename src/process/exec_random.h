// Which execve(2) a process runs the program of: the kernel puts 16 random bytes on its stack then (AT_RANDOM), which
// the process and those that it forks keep. Reads the process; safe from any thread; blocks as its memory does.
#ifndef OFFCPU_PROCESS_EXEC_RANDOM_H_
#define OFFCPU_PROCESS_EXEC_RANDOM_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>

namespace offcpu {

using ExecRandom = std::array<std::byte, 16>;

// Nothing if it cannot be read, or of a program of 32 bits. A process can write to it: it is only a process's own word.
std::optional<ExecRandom> ReadExecRandom(pid_t pid);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_EXEC_RANDOM_H_
