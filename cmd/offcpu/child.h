// COMMAND as a child process that waits at its start until the recording runs, so that none of its life is missed.
#ifndef OFFCPU_CMD_OFFCPU_CHILD_H_
#define OFFCPU_CMD_OFFCPU_CHILD_H_

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "os/owned_fd.h"

namespace offcpu {

class Child {
 public:
  // Forks: call it before any thread is started. `signals` is the mask that the command gets.
  static absl::StatusOr<Child> Fork(const std::vector<std::string>& command, const sigset_t& signals);

  pid_t pid() const { return pid_; }
  // Lets it go. 0, or the errno of its execve.
  int Run();
  // Has it ended? Does not wait.
  bool Ended();
  void WaitForEnd();
  // Its exit status once it has ended, as a shell gives it: 128 and the number of the signal that has ended it.
  int exit_status() const;

 private:
  Child(pid_t pid, OwnedFd gate, OwnedFd error) : pid_(pid), gate_(std::move(gate)), error_(std::move(error)) {}

  pid_t pid_;
  OwnedFd gate_;   // it runs when a byte comes through, and ends when this is closed without
  OwnedFd error_;  // the errno of its execve; closed by a successful one
  bool ended_ = false;
  int status_ = 0;  // as of waitpid
};

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_CHILD_H_
