// Children whose pids another child has had.
#ifndef OFFCPU_TESTS_TARGETS_FORK_AS_H_
#define OFFCPU_TESTS_TARGETS_FORK_AS_H_

#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace target {

// A child with the wanted pid, or any if `wanted` is 0. -1 if it is taken.
inline pid_t ForkAs(pid_t wanted) {
  clone_args arguments = {};
  arguments.exit_signal = SIGCHLD;
  if (wanted != 0) {
    arguments.set_tid = reinterpret_cast<uint64_t>(&wanted);
    arguments.set_tid_size = 1;
  }
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

}  // namespace target

#endif  // OFFCPU_TESTS_TARGETS_FORK_AS_H_
