#include "tests/deep/memory_cgroup.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "gtest/gtest.h"
#include "tests/harness/cgroup_hierarchy.h"

namespace offcpu::integration {
std::unique_ptr<MemoryCgroup> MemoryCgroup::Create() {
  const std::optional<CgroupHierarchy> hierarchy = FindCgroupHierarchy("memory");
  if (!hierarchy.has_value()) return nullptr;
  std::unique_ptr<MemoryCgroup> group(new MemoryCgroup());
  group->is_v2_ = hierarchy->is_v2;
  group->home_ = hierarchy->own;
  const std::string path = hierarchy->parent() + "/offcpu-test-" + std::to_string(getpid());
  if (mkdir(path.c_str(), 0755) != 0) {
    ADD_FAILURE() << path << ": " << std::strerror(errno);
    return nullptr;
  }
  group->path_ = path;
  return group;
}

MemoryCgroup::~MemoryCgroup() {
  if (keeper_ > 0) {
    kill(keeper_, SIGKILL);
    waitpid(keeper_, nullptr, 0);
  }
  if (!path_.empty()) rmdir(path_.c_str());
}

// Version 1 lets a thread go alone.
void MemoryCgroup::Enter() const {
  EXPECT_TRUE(WriteCgroupFile(path_ + (is_v2_ ? "/cgroup.procs" : "/tasks"), "0")) << path_;
}

void MemoryCgroup::Leave() const {
  EXPECT_TRUE(WriteCgroupFile(home_ + "/cgroup.procs", std::to_string(getpid()))) << home_;
}

// Version 1 takes no limit below what is used; but the attempt gives back what CPUs hold in advance.
bool MemoryCgroup::SetLimitToUsage() const {
  const std::string limit = path_ + "/memory.limit_in_bytes";
  WriteCgroupFile(limit, "0");
  return WriteCgroupFile(limit, ReadCgroupFile(path_ + "/memory.usage_in_bytes"));
}

void MemoryCgroup::KeepFull() {
  if (is_v2_) {
    EXPECT_TRUE(WriteCgroupFile(path_ + "/memory.max", "0"));
    return;
  }
  int attempts = 100;  // more may be used by the time that the limit is set
  while (!SetLimitToUsage() && attempts != 0) --attempts;
  EXPECT_GT(attempts, 0) << path_;
  // And what is freed makes room again. A process of its own does that: recordings leave this one out, and tests know
  // how little that is.
  keeper_ = fork();
  ASSERT_GE(keeper_, 0) << std::strerror(errno);
  if (keeper_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(3, ~0u, 0);  // a program whose input this process ends shall see that
  while (true) {
    SetLimitToUsage();
    usleep(1000);
  }
}

}  // namespace offcpu::integration
