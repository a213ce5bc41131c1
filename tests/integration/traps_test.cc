// Traps that other profilers have fallen into, where no other test is about them; see docs/traps.md.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>

#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

bool Any(const StackRow&) { return true; }

uint64_t NowNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// A page fault of the callback that reads the user stack: what the profiler makes a thread wait for is shown as that.
bool IsTheCallbacksOwn(const StackRow& row) {
  return std::ranges::find(row.kernel, "bpf_task_work_callback") != row.kernel.end();
}

// The programs that look at a switch are a part of its kernel stack, and what calls them is: neither is why it waits.
TEST(Traps, TheProfilerIsInNoStack) {
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "1"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  size_t frames = 0;
  for (const StackRow& row : recording.Rows(Any)) {
    if (IsTheCallbacksOwn(row)) continue;
    for (const std::string_view name : row.kernel) {
      ++frames;
      for (const char* of_bpf : {"bpf_", "__bpf_", "__traceiter_", "trace_event_", "perf_"}) {
        EXPECT_FALSE(name.starts_with(of_bpf)) << row.Text();
      }
    }
    const bool has_come_back = row.row->kind != WaitKind::kOpen && !row.kernel.empty();
    const bool is_new = has_come_back && row.kernel.front() == "ret_from_fork_asm";  // it has not left a CPU before
    EXPECT_TRUE(!has_come_back || is_new || row.kernel.front().find("schedule") != std::string_view::npos)
        << row.Text();
  }
  EXPECT_GT(frames, 100u) << "there is nothing to see";
}

// Where a recording lies in time is measured: nothing of it is made up.
TEST(Traps, ARecordingIsAtItsPlaceInTime) {
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "0.5"});
  ASSERT_NE(target, nullptr);
  const uint64_t before_start_unix_ns = NowNs(CLOCK_REALTIME);
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(Unthrottled({target->pid()}));
  const uint64_t after_start_unix_ns = NowNs(CLOCK_REALTIME);
  const uint64_t after_start_ns = NowNs(CLOCK_MONOTONIC);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  target->Go();
  target->AwaitDone();
  const uint64_t at_least_ns = NowNs(CLOCK_MONOTONIC) - after_start_ns;
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  const uint64_t at_most_ns = NowNs(CLOCK_MONOTONIC) - after_start_ns + (after_start_unix_ns - before_start_unix_ns);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_GE(profile->start_unix_ns, before_start_unix_ns);
  EXPECT_LE(profile->start_unix_ns, after_start_unix_ns);
  EXPECT_GE(profile->duration_ns, at_least_ns);
  EXPECT_LE(profile->duration_ns, at_most_ns);
  for (const ProfileRow& row : profile->rows) EXPECT_LE(row.max_ns, profile->duration_ns);
}

}  // namespace
}  // namespace offcpu::integration
