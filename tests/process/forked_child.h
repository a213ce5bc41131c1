// A process that the test has forked, which waits until the test is over: as it is, or under a program of its own.
#ifndef OFFCPU_TESTS_PROCESS_FORKED_CHILD_H_
#define OFFCPU_TESTS_PROCESS_FORKED_CHILD_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace offcpu {

class ForkedChild {
 public:
  // Returns when the child waits or, if it `execs`, runs the other program.
  explicit ForkedChild(bool execs = false) {
    int running[2];  // closed by execve, or by the child
    if (pipe2(running, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      if (execs) execl("/bin/sleep", "sleep", "60", nullptr);
      close(running[0]);
      close(running[1]);
      for (;;) pause();
    }
    close(running[1]);
    char byte = 0;
    EXPECT_EQ(read(running[0], &byte, 1), 0);
    close(running[0]);
  }
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;
  ~ForkedChild() {
    EXPECT_GT(pid_, 0) << "there was none";
    if (pid_ <= 0) return;  // kill(-1) would end every process of the host
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROCESS_FORKED_CHILD_H_
