#include "os/scoped_priority.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace offcpu {
namespace {

int Nice() { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); }

TEST(ScopedPriorityTest, ComesBeforeOthersForAWhile) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  const int before = Nice();
  int inherited = 0;
  {
    const ScopedPriority priority;
    EXPECT_EQ(Nice(), -20);
    std::thread([&inherited] { inherited = Nice(); }).join();
  }
  EXPECT_EQ(inherited, -20);
  EXPECT_EQ(Nice(), before);
}

// In a process of a user other than root, with a limit RLIMIT_NICE of so much: by how much is its priority raised?
int RaisedBy(rlim_t limit) {
  constexpr int kNoLimit = 255;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limits = {.rlim_cur = limit, .rlim_max = limit};
    if (setrlimit(RLIMIT_NICE, &limits) != 0 || setuid(61'234) != 0) _exit(kNoLimit);
    const int before = Nice();
    const ScopedPriority priority;
    _exit(before - Nice());
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

// The highest limit that we may set: where root has no CAP_SYS_RESOURCE, the one that there is.
rlim_t HighestLimit() {
  rlimit before;
  EXPECT_EQ(getrlimit(RLIMIT_NICE, &before), 0);
  const rlimit higher = {.rlim_cur = before.rlim_cur, .rlim_max = 40};
  if (before.rlim_max >= 40 || setrlimit(RLIMIT_NICE, &higher) != 0) return before.rlim_max;
  EXPECT_EQ(setrlimit(RLIMIT_NICE, &before), 0);
  return 40;
}

TEST(ScopedPriorityTest, WithoutThePrivilegeItComesBeforeOthersAsFarAsItMay) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(RaisedBy(0), 0);
  const rlim_t highest = HighestLimit();
  for (const int limit : {30, 40}) {
    if (highest >= static_cast<rlim_t>(limit)) EXPECT_EQ(RaisedBy(limit), Nice() + limit - 20);
  }
}

}  // namespace
}  // namespace offcpu
