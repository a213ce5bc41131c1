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
    EXPECT_EQ(Nice(), -10);
    std::thread([&inherited] { inherited = Nice(); }).join();
  }
  EXPECT_EQ(inherited, -10);
  EXPECT_EQ(Nice(), before);
}

TEST(HurriedThreadTest, WhoComesBeforeTheseAlreadyStays) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  std::thread([] {
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), -15);
    {
      const HurriedThread hurried;
      EXPECT_EQ(Nice(), -15);
    }
    EXPECT_EQ(Nice(), -15);
  }).join();
}

// A user other than root.
TEST(HurriedThreadTest, WithoutThePrivilegeItStaysAsItIs) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    if (setrlimit(RLIMIT_NICE, &none) != 0 || setuid(61'234) != 0) _exit(2);
    const int before = Nice();
    const HurriedThread hurried;
    _exit(Nice() == before ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace offcpu
