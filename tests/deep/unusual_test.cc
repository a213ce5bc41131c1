// Processes that are built or behave as few do are recorded like others.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "recorder/process_stacks.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

void ExpectWholeStacks(const Recording& recording, const Target& target, const std::string& thread,
                       const std::string& function) {
  const Measure measured = target.Measured(thread, function);
  const Measure got = recording.Sum([&](const StackRow& row) { return row.complete() && row.Has(function); });
  std::printf("%s: %.2f %% of the measured time\n", function.c_str(),
              100.0 * static_cast<double>(got.ns) / static_cast<double>(measured.ns));
  EXPECT_TRUE(Within(got.ns, measured.ns, 0.02, target.stolen_ns()))
      << got.ns << " ns, measured " << measured.ns << "\n"
      << recording.LossesText();
}

// A thread that comes to be recorded while it sleeps has not slept since the recording began.
TEST(Unusual, ThreadRenamedInItsSleep) {
  const std::unique_ptr<Target> target = Target::Start({"unusual", "rename"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.comms = {"other*"};
  const Recording recording = Record(config, *target);
  ExpectWholeStacks(recording, *target, "other_name", "renamed_wait");
  const Measure all = recording.Sum([](const StackRow&) { return true; });
  EXPECT_TRUE(Within(all.ns, target->Measured("other_name", "renamed_wait").ns, 0.02, target->stolen_ns()))
      << all.ns << " ns";
  const Loss* loss = recording.FindLoss("selected while off the CPU");
  ASSERT_NE(loss, nullptr) << recording.LossesText();
  EXPECT_EQ(loss->count, 1u);
}

TEST(Unusual, ProcessWhoseMainThreadHasEnded) {
  const std::unique_ptr<Target> target = Target::Start({"unusual", "leaderless"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  ExpectWholeStacks(recording, *target, "unusual", "leaderless_wait");
}

// More mappings than are listed, and more than one read of the kernel's iterator holds.
class UnusualMappings : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Counts, UnusualMappings, testing::Values("120", "200", "900"));

TEST_P(UnusualMappings, ChangeInTheMiddle) {
  const std::unique_ptr<Target> target = Target::Start({"unusual", "mappings", GetParam()});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  ExpectWholeStacks(recording, *target, "main", "wait_before");
  ExpectWholeStacks(recording, *target, "main", "wait_after");
}

TEST(Unusual, WaitThatDoesNotEndIsClipped) {
  const std::unique_ptr<Target> target = Target::Start({"unusual", "open"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const std::vector<StackRow> rows =
      recording.Rows([](const StackRow& row) { return row.row->kind == WaitKind::kOpen && row.Has("open_wait"); });
  ASSERT_EQ(rows.size(), 1u) << recording.LossesText();
  EXPECT_TRUE(rows[0].complete());
  EXPECT_GE(rows[0].row->total_ns(), 1'400'000'000u)
      << "it fell asleep 0.1 s after the beginning, half a second later if the host pauses, and the run takes 2 s";
  EXPECT_LE(recording.Sum([](const StackRow& row) { return row.Has("open_wait"); }).ns, recording.profile.duration_ns)
      << "it is told twice";
}

bool HasIoUring() {
  int disabled = 1;
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
  return disabled == 0;
}

TEST(Unusual, WorkersOfIoUringAreTheKernelsOwn) {
  const TemporaryDirectory directory;
  if (!HasIoUring()) GTEST_SKIP() << "there is no io_uring";
  const std::unique_ptr<Target> target = Target::Start({"uring", directory.path() + "/fifo"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const auto is_worker = [](const StackRow& row) { return row.comm.starts_with("iou-wrk-"); };
  for (const StackRow& row : recording.Rows(is_worker)) {
    EXPECT_EQ(row.user->missing, NoUserStack::kKernelThread) << row.Text();
    EXPECT_EQ(row.row->syscall, kNoSystemCall) << row.Text();
  }
  EXPECT_GT(recording.Sum(is_worker).ns, 900'000'000u) << "it waits for 200 times 5 ms";
  EXPECT_EQ(recording.FindLoss("no user stack: unreadable"), nullptr) << recording.LossesText();
}

// When it has done all, the worker stays for some seconds, and the thread that polls for as long as its ring.
TEST(Unusual, ThreadsOfIoUringHaveNoUserStackInAReading) {
  const TemporaryDirectory directory;
  if (!HasIoUring()) GTEST_SKIP() << "there is no io_uring";
  const std::unique_ptr<Target> target = Target::Start({"uring", directory.path() + "/fifo"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(target->pid(), UnwindOrder());
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  std::map<std::string, NoUserStack> of_kernel;  // by what the names begin with
  for (const ProfileRow& row : stacks->profile.rows) {
    const std::string& comm = stacks->profile.comms[row.comm];
    if (comm.starts_with("iou-")) of_kernel[comm.substr(0, 7)] = stacks->profile.user_stacks[row.user_stack].missing;
  }
  EXPECT_EQ(of_kernel, (std::map<std::string, NoUserStack>{{"iou-sqp", NoUserStack::kKernelThread},
                                                           {"iou-wrk", NoUserStack::kKernelThread}}));
}

}  // namespace
}  // namespace offcpu::integration
