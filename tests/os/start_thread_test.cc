#include "os/start_thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace offcpu {
namespace {

TEST(StartThreadTest, RunsWithoutSignals) {
  sigset_t blocked = {};
  absl::StatusOr<std::thread> thread =
      StartThread("test", [&blocked] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->join();
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
}

// A user other than root, and one who has no process yet, so that one more is already too much.
TEST(StartThreadTest, NoRoomIsAnError) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobodyElse = 61'234;
    const rlimit one = {.rlim_cur = 1, .rlim_max = 1};
    if (setrlimit(RLIMIT_NPROC, &one) != 0 || setuid(kNobodyElse) != 0) _exit(2);
    absl::StatusOr<std::thread> thread = StartThread("test", [] {});
    if (thread.ok()) thread->join();
    _exit(thread.status().code() == absl::StatusCode::kResourceExhausted ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace offcpu
