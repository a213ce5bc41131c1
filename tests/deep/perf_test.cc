// Times are those of another profiler too: perf's, over the same seconds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

#include "tests/harness/cli.h"
#include "tests/harness/load.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kLength{4};

struct OffCpu {
  uint64_t ns = 0;
  uint64_t runnable_ns = 0;  // perf does not tell it
  uint64_t count = 0;
};

using OffCpuByThread = std::map<pid_t, OffCpu>;

class PerfTest : public CliTest {
 protected:
  void SetUp() override {
    if (!IsInstalled("perf")) GTEST_SKIP() << "perf is not installed";
    for (const char* name : {"control", "answers"}) ASSERT_EQ(mkfifo(Path(name).c_str(), 0600), 0);
    control_ = OwnedFd(open(Path("control").c_str(), O_RDWR | O_CLOEXEC));
    answers_ = OwnedFd(open(Path("answers").c_str(), O_RDWR | O_CLOEXEC));
    perf_ = Start({"perf", "sched", "record", "--delay", "-1", "--control",
                   "fifo:" + Path("control") + "," + Path("answers"), "-m", "32M", "-o", Path("perf.data")});
  }

  // Returns when perf has done it.
  void Tell(const std::string& command) {
    ASSERT_EQ(write(control_.get(), command.data(), command.size()), static_cast<ssize_t>(command.size()));
    pollfd answer = {answers_.get(), POLLIN, 0};
    ASSERT_EQ(poll(&answer, 1, 20'000), 1) << "perf does not answer: " << ReadFile(Path("stderr"));
    char text[16];
    ASSERT_GT(read(answers_.get(), text, sizeof(text)), 0);
  }

  void StartPerf() { Tell("enable\n"); }
  void StopPerf() {
    Tell("stop\n");
    EXPECT_EQ(perf_->Wait(), 0) << ReadFile(Path("stderr"));
  }

  bool HasLostEvents() {
    EXPECT_EQ(RunWords({"perf", "report", "--stats", "-i", Path("perf.data")}), 0) << errors_;
    return output_.find("LOST") != std::string::npos;
  }

  // Sums up "wait time", which is what perf calls the time between a thread's leaving a CPU and its coming back: its
  // column "sch delay" is a part of that. A wait that began before perf did is 0 there.
  OffCpuByThread TimeHistory() {
    EXPECT_EQ(RunWords({"perf", "sched", "timehist", "-i", Path("perf.data")}), 0) << errors_;
    const std::regex line(R"(\[(\d+)(?:/\d+)?\] +(\d+)\.(\d+) +\d+\.\d+ +\d+\.\d+ *$)");
    OffCpuByThread threads;
    std::istringstream lines(output_);
    std::smatch match;
    for (std::string text; std::getline(lines, text);) {
      if (!std::regex_search(text, match, line)) continue;
      const uint64_t wait_us = std::stoull(match[2]) * 1000 + std::stoull(match[3]);
      if (wait_us == 0) continue;
      OffCpu& thread = threads[std::stoi(match[1])];
      thread.ns += wait_us * 1000;
      ++thread.count;
    }
    return threads;
  }

 private:
  OwnedFd control_;
  OwnedFd answers_;
  std::unique_ptr<Program> perf_;
};

// Without the waits at both ends, in which the load is stopped. But a thread that gets word to go on waits for a CPU
// then, and the kernel counts that too.
OffCpuByThread WithoutStops(const Profile& profile) {
  OffCpuByThread threads;
  for (const ProfileRow& row : profile.rows) {
    OffCpu& thread = threads[row.tid];
    thread.runnable_ns += row.runnable_ns;
    if (row.kind == WaitKind::kStopped || row.kind == WaitKind::kOpen) continue;
    thread.ns += row.total_ns();
    thread.count += row.count;
  }
  return threads;
}

// perf takes a switch for what its tracepoint sees of it. For the scheduler, a thread whose place is taken by one that
// has been woken is off the CPU from the wake-up on, which the same interrupt makes into a switch some 10 us later: so
// far apart are the two. One percent of a millisecond is that much; of threads with shorter waits, what they have lost
// so is all that there is to compare, and the kernel's count of it, which is of the time that it wanted to run, is
// right.
constexpr uint64_t kShortNs = 1'000'000;

TEST_F(PerfTest, HasTheSameTimesOffTheCpu) {
  Load load;
  for (const char* mode : {"migrant", "yield", "hogs"}) {
    load.Add({BinDirectory() + "/targets/states", mode, "--seconds", "3600"});
  }
  constexpr size_t kThreads = 4 + 3 + 3;
  load.AwaitThreads(kThreads);
  load.Freeze();
  std::map<pid_t, SchedStatFile> kernel;
  std::map<pid_t, uint64_t> delay_before_ns;
  for (SchedStatFile& file : OpenSchedStats(load.Processes())) {
    delay_before_ns[file.tid()] = file.Read()->run_delay_ns;
    kernel.emplace(file.tid(), std::move(file));
  }
  RecordConfig config;
  config.pids = load.Processes();
  config.per_thread = true;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  StartPerf();
  load.Thaw();
  std::this_thread::sleep_for(kLength);
  load.Freeze();
  StopPerf();
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  ASSERT_TRUE(profile.ok()) << profile.status();

  if (HasLostEvents()) GTEST_SKIP() << "perf has lost events: " << output_;
  const OffCpuByThread by_perf = TimeHistory();
  size_t threads = 0;
  for (const auto& [tid, got] : WithoutStops(*profile)) {
    ASSERT_TRUE(by_perf.contains(tid)) << tid;
    const OffCpu& wanted = by_perf.at(tid);
    std::printf("%.3f ms in %llu waits, by perf %.3f ms in %llu: %+.4f %%\n", static_cast<double>(got.ns) / 1e6,
                static_cast<unsigned long long>(got.count), static_cast<double>(wanted.ns) / 1e6,
                static_cast<unsigned long long>(wanted.count),
                100 * (static_cast<double>(got.ns) / static_cast<double>(wanted.ns) - 1));
    if (wanted.ns >= wanted.count * kShortNs) {
      EXPECT_TRUE(Within(got.ns, wanted.ns, 0.01)) << tid;
    } else {
      const uint64_t delay_ns = kernel.at(tid).Read()->run_delay_ns - delay_before_ns[tid];
      EXPECT_TRUE(Within(got.runnable_ns, delay_ns, 0.01))
          << "thread " << tid << " wanted to run for " << got.runnable_ns << " ns, by the kernel " << delay_ns;
    }
    ++threads;
  }
  EXPECT_EQ(threads, kThreads);
}

}  // namespace
}  // namespace offcpu::integration
