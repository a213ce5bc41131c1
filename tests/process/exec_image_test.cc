#include "process/exec_image.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace offcpu {
namespace {

// Ends with the test.
class Child {
 public:
  explicit Child(bool execs) {
    int ready[2];  // closed by execve, or when the child says so
    if (pipe2(ready, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      if (execs) execl("/bin/sleep", "sleep", "60", nullptr);
      close(ready[0]);
      close(ready[1]);
      for (;;) pause();
    }
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 0);
    close(ready[0]);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(ExecImageTest, IsWhatTheKernelHasGivenTheProgram) {
  ExecRandom own;
  std::memcpy(own.data(), reinterpret_cast<const void*>(getauxval(AT_RANDOM)), own.size());
  EXPECT_EQ(ReadExecRandom(getpid()), own);
}

TEST(ExecImageTest, AForkedProcessHasItsParents) {
  EXPECT_EQ(ReadExecRandom(Child(/*execs=*/false).pid()), ReadExecRandom(getpid()));
}

TEST(ExecImageTest, AProgramOfItsOwnHasAnother) {
  const auto of_child = ReadExecRandom(Child(/*execs=*/true).pid());
  ASSERT_TRUE(of_child.has_value());
  EXPECT_NE(of_child, ReadExecRandom(getpid()));
}

TEST(ExecImageTest, NoProcessHasNone) { EXPECT_FALSE(ReadExecRandom(-1).has_value()); }

}  // namespace
}  // namespace offcpu
