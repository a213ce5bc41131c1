#include "recorder/cgroup_threads.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Thread {
  pid_t tid = 0;
};

// Directories with the one file of a control group that is read.
class CgroupThreadsTest : public ::testing::Test {
 protected:
  CgroupThreadsTest() {
    Make("server", "1\n2\n");
    Make("server/worker", "3\n");
    Make("server/worker/empty", "");
    Make("other", "4\n");
  }
  ~CgroupThreadsTest() override { std::filesystem::remove_all(root_); }

  void Make(const std::string& name, const std::string& threads) const {
    std::filesystem::create_directories(root_ + name);
    std::ofstream(root_ + name + "/cgroup.threads") << threads;
  }
  static std::vector<pid_t> Kept(const Selection& selection) {
    std::vector<Thread> threads = {{1}, {2}, {3}, {4}, {5}};
    KeepMembers(selection, &threads);
    std::vector<pid_t> tids;
    for (const Thread& thread : threads) tids.push_back(thread.tid);
    return tids;
  }

  const std::string root_ = testing::TempDir() + "cgroup_threads_test." + std::to_string(getpid()) + "/";
};

TEST_F(CgroupThreadsTest, DescendantsBelongToThem) {
  EXPECT_THAT(ThreadsOfCgroups({root_ + "server"}), UnorderedElementsAre(1, 2, 3));
  EXPECT_THAT(ThreadsOfCgroups({root_ + "server/worker", root_ + "other"}), UnorderedElementsAre(3, 4));
  EXPECT_THAT(ThreadsOfCgroups({root_ + "gone"}), IsEmpty());
}

TEST_F(CgroupThreadsTest, LinksAreNotFollowed) {
  std::filesystem::create_directory_symlink(root_ + "other", root_ + "server/link");
  std::filesystem::create_directory_symlink(root_ + "server", root_ + "server/worker/loop");
  EXPECT_THAT(ThreadsOfCgroups({root_ + "server"}), UnorderedElementsAre(1, 2, 3));
}

// A walk that stopped at what has gone would miss those that stay, some of which are listed behind it.
TEST_F(CgroupThreadsTest, OthersComeAndGo) {
  for (int i = 0; i < 8; ++i) Make("server/stays" + std::to_string(i), std::to_string(10 + i) + "\n");
  std::atomic<bool> is_done = false;
  std::thread changes([&] {
    while (!is_done) {
      for (int i = 0; i < 8; ++i) {
        std::error_code error;
        const std::string comes = root_ + "server/comes" + std::to_string(i);
        std::filesystem::create_directories(comes + "/below", error);
        std::filesystem::remove(comes + "/below", error);
        std::filesystem::remove(comes, error);
      }
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (int i = 0; i < 2000 && std::chrono::steady_clock::now() < end && !HasFailure(); ++i) {
    EXPECT_THAT(ThreadsOfCgroups({root_ + "server"}), UnorderedElementsAre(1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17));
  }
  is_done = true;
  changes.join();
}

TEST_F(CgroupThreadsTest, MembersAreInOneAndInNoneThatIsExcluded) {
  Selection selection;
  EXPECT_THAT(Kept(selection), ElementsAre(1, 2, 3, 4, 5));
  selection.excluded_cgroups = {root_ + "server/worker"};
  EXPECT_THAT(Kept(selection), ElementsAre(1, 2, 4, 5));
  selection.cgroups = {root_ + "server"};
  EXPECT_THAT(Kept(selection), ElementsAre(1, 2));
  selection.excluded_cgroups = {};
  EXPECT_THAT(Kept(selection), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace offcpu
