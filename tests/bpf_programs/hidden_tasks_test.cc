#include "bpf_programs/hidden_tasks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace offcpu {
namespace {

std::vector<TaskDescription> Listed(const std::vector<int32_t>& threads) {
  std::vector<TaskDescription> listed;
  for (const int32_t tid : threads) listed.emplace_back().tid = tid;
  return listed;
}

TEST(HiddenTasks, ProcShowsThreadsOfProcesses) {
  std::vector<int32_t> threads;
  int32_t second = 0;
  std::thread([&] {
    second = gettid();
    threads = ListThreadsOfProc();
  }).join();
  EXPECT_EQ(std::count(threads.begin(), threads.end(), getpid()), 1);
  EXPECT_EQ(std::count(threads.begin(), threads.end(), second), 1);
}

TEST(HiddenTasks, AreShownAndNotListed) {
  EXPECT_TRUE(HidesTasks({getppid(), getpid()}, Listed({getppid()})));
  EXPECT_FALSE(HidesTasks({getppid(), getpid()}, Listed({getpid(), getppid()})));
  EXPECT_FALSE(HidesTasks({}, Listed({getpid()})));
}

// No thread has that number, as if it had ended meanwhile.
TEST(HiddenTasks, HaveNotEnded) { EXPECT_FALSE(HidesTasks({INT32_MAX}, Listed({getpid()}))); }

}  // namespace
}  // namespace offcpu
