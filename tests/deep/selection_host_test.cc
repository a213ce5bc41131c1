// Kernel threads are recorded if they are selected, whatever the host has them do.
#include <gtest/gtest.h>

#include "tests/harness/selection.h"

namespace offcpu::integration {
namespace {

class SelectionOfHost : public SelectionTest {
 protected:
  SelectionOfHost() : SelectionTest("2") {}
};

TEST_F(SelectionOfHost, KernelThreadsIfAskedFor) {
  const auto is_kernel = [](const StackRow& row) { return row.user->missing == NoUserStack::kKernelThread; };
  // Threads of io_uring, which run in the kernel alone as well, are their program's.
  const auto is_kernels_own = [&](const StackRow& row) { return is_kernel(row) && !row.comm.starts_with("iou-"); };
  EXPECT_EQ(RecordBoth({}).Sum(is_kernels_own).ns, 0u);
  SetUp();  // two more
  const Recording recording = RecordBoth({{.kernel_threads = true}});
  // Everything that is written passes through kernel threads; RCU's run all the time.
  EXPECT_GT(recording.Sum([&](const StackRow& row) { return is_kernel(row) && !row.kernel.empty(); }).count, 0u);
  EXPECT_GT(recording.Sum([&](const StackRow& row) { return is_kernel(row) && row.comm.starts_with("rcu"); }).count,
            0u);
  EXPECT_EQ(recording.FindLoss("no user stack: kernel thread"), nullptr) << "nothing is lost";
  EXPECT_GT(NsOf(recording, wanted_->pid()), 1'000'000'000u);
}

}  // namespace
}  // namespace offcpu::integration
