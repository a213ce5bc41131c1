// Waits of threads whose control group has used up its CPU time have a cause of their own.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "classify/wait_cause.h"
#include "tests/harness/cgroup_hierarchy.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

// A control group with a twentieth of a CPU. The truth is the kernel's own account of how long the group was throttled,
// which begins when its time is used up: a tick at most before the thread leaves the CPU.
class Throttled : public testing::Test {
 protected:
  void SetUp() override {
    hierarchy_ = FindCgroupHierarchy("cpu");
    if (!hierarchy_.has_value()) GTEST_SKIP() << "no control groups for CPU time";
    path_ = hierarchy_->parent() + "/offcpu-throttled-" + std::to_string(getpid());
    if (hierarchy_->is_v2) WriteCgroupFile(hierarchy_->parent() + "/cgroup.subtree_control", "+cpu");
    ASSERT_EQ(mkdir(path_.c_str(), 0755), 0) << path_ << ": " << std::strerror(errno);
    const bool limited = hierarchy_->is_v2 ? WriteCgroupFile(path_ + "/cpu.max", "5000 100000")
                                           : WriteCgroupFile(path_ + "/cpu.cfs_quota_us", "5000");
    if (!limited) GTEST_SKIP() << "this kernel limits no CPU time";
  }
  void TearDown() override {
    target_.reset();
    if (!path_.empty()) rmdir(path_.c_str());
  }

  // Whether the kernel has ever throttled the group, and for how long.
  uint64_t ThrottledNs() const {
    std::ifstream file(path_ + "/cpu.stat");
    uint64_t value = 0;
    for (std::string word; file >> word >> value;) {
      if (word == "throttled_time") return value;
      if (word == "throttled_usec") return value * 1000;
    }
    return 0;
  }

  std::optional<CgroupHierarchy> hierarchy_;
  std::string path_;
  std::unique_ptr<Target> target_;
};

TEST_F(Throttled, IsACauseOfItsOwn) {
  target_ = Target::Start({"duty", "--seconds", "3"});
  ASSERT_NE(target_, nullptr);
  ASSERT_TRUE(WriteCgroupFile(path_ + "/cgroup.procs", std::to_string(target_->pid())));
  const uint64_t before_ns = ThrottledNs();
  const Recording recording = Record(Unthrottled({target_->pid()}), *target_);
  const uint64_t kernels_ns = ThrottledNs() - before_ns;
  WaitCauses causes(recording.profile);
  const Measure throttled =
      recording.Sum([&](const StackRow& row) { return causes.Of(*row.row) == WaitCause::kThrottled; });
  std::printf("throttled for %.3f s in %llu waits, the kernel says %.3f s\n", static_cast<double>(throttled.ns) / 1e9,
              static_cast<unsigned long long>(throttled.count), static_cast<double>(kernels_ns) / 1e9);
  ASSERT_GT(kernels_ns, 1'000'000'000u) << "it is hardly throttled: no test";
  // When the group has time again, the thread waits for a CPU like any other: beside others for some turns of theirs.
  constexpr uint64_t kTurnsNs = 20'000'000;
  EXPECT_GE(throttled.ns, kernels_ns * 9 / 10);
  EXPECT_LE(throttled.ns, kernels_ns + throttled.count * kTurnsNs);
  for (const StackRow& row :
       recording.Rows([&](const StackRow& r) { return causes.Of(*r.row) == WaitCause::kThrottled; })) {
    EXPECT_EQ(row.row->runnable_ns, row.row->total_ns()) << row.Text();
    EXPECT_TRUE(row.Has("duty_cycle")) << row.Text();
  }
}

}  // namespace
}  // namespace offcpu::integration
