#include "process/hurried_thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace offcpu {
namespace {

int Nice() { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); }

TEST(HurriedThreadTest, ComesBeforeOthersForAWhile) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  const int before = Nice();
  int inherited = 0;
  {
    const HurriedThread hurried;
    EXPECT_EQ(Nice(), -20);
    std::thread([&inherited] { inherited = Nice(); }).join();
  }
  EXPECT_EQ(inherited, -20);
  EXPECT_EQ(Nice(), before);
}

constexpr int kNoLimit = 255;

// In a process of a user other than root, with a limit RLIMIT_NICE of so much: by how much is a thread hurried?
// kNoLimit where that limit cannot be set.
int HurriedBy(rlim_t limit) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limits = {.rlim_cur = limit, .rlim_max = limit};
    if (setrlimit(RLIMIT_NICE, &limits) != 0 || setuid(61'234) != 0) _exit(kNoLimit);
    const int before = Nice();
    const HurriedThread hurried;
    _exit(before - Nice());
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST(HurriedThreadTest, WithoutThePrivilegeItStaysAsItIs) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(HurriedBy(0), 0);
}

TEST(HurriedThreadTest, ComesBeforeOthersAsFarAsItMay) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  if (HurriedBy(40) == kNoLimit) GTEST_SKIP() << "needs CAP_SYS_RESOURCE, which raises limits";
  EXPECT_EQ(HurriedBy(30), Nice() + 10);
  EXPECT_EQ(HurriedBy(40), Nice() + 20);
}

}  // namespace
}  // namespace offcpu
