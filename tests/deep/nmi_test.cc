// The body of the sampling program in real NMIs, in the middle of the other programs: a machine without a PMU has none
// of itself, but a kernel that can be asked for the stacks of all CPUs sends them. See scripts/test-nmi.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>
#include <vector>

#include "bpf_programs/stack_ids.h"
#include "os/owned_fd.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

constexpr char kSysrq[] = "/proc/sysrq-trigger";

bool IsSample(const StackRow& row) { return row.row->kind == WaitKind::kRunning; }

// Asks for the stacks of all CPUs until it goes out of scope: an NMI each.
class Nmis {
 public:
  Nmis() : thread_([this] { Run(); }) {}
  ~Nmis() {
    stop_ = true;
    thread_.join();
  }

 private:
  void Run() {
    const OwnedFd sysrq(open(kSysrq, O_WRONLY | O_CLOEXEC));
    while (!stop_ && write(sysrq.get(), "l", 1) == 1) usleep(500);
  }

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

constexpr wire_hash_key kKey = {.low = 5, .high = 6};

uint64_t IdOf(const std::vector<NamedFrame>& frames) {
  std::vector<uint64_t> addresses;
  for (const NamedFrame& frame : frames) addresses.push_back(frame.address);
  return KernelStackId(kKey, addresses);
}

TEST(Nmi, SamplesAreTakenInTheMiddleOfOtherPrograms) {
  if (access(kSysrq, W_OK) != 0) GTEST_SKIP() << "this kernel has no " << kSysrq << ": see scripts/test-nmi";
  std::ofstream("/proc/sys/kernel/printk") << "1 1 1 1\n";  // not onto a slow console
  const std::unique_ptr<Target> pingpong = Target::Start({"pingpong", "--seconds", "600", "--cpu", "0"});
  const std::unique_ptr<Target> duty = Target::Start({"duty", "--seconds", "15"});
  ASSERT_NE(pingpong, nullptr);
  ASSERT_NE(duty, nullptr);
  RecordConfig config;
  config.pids = {pingpong->pid(), pingpong->Detail("pong"), duty->pid()};
  config.oncpu_hz = 99;
  config.oncpu_in_nmi = true;
  config.hash_key = kKey;
  Recording recording;
  {
    pingpong->Go();
    const Nmis nmis;
    recording = Record(config, *duty);
  }

  uint64_t samples = 0;
  uint64_t with_stack = 0;
  uint64_t in_our_programs = 0;
  for (const StackRow& row : recording.Rows(IsSample)) {
    samples += row.row->samples;
    EXPECT_TRUE(row.HasInKernel("exc_nmi")) << row.Text();
    for (const std::string_view name : row.kernel) {
      if (!name.starts_with("bpf_prog_") || name.find("sample_nmi") != std::string_view::npos) continue;
      in_our_programs += row.row->samples;
      break;
    }
    if (!row.complete()) continue;
    with_stack += row.row->samples;
    const char* function = row.comm == "duty" ? "duty_cycle" : row.comm == "pong" ? "pong_loop" : "ping_loop";
    EXPECT_TRUE(row.Has(function) || row.Has("main")) << row.comm << "\n" << row.Text();
  }
  uint64_t stacks = 0;
  for (const ProfileRow& row : recording.profile.rows) {
    const NamedKernelStack& stack = recording.profile.kernel_stacks[row.kernel_stack];
    if (stack.frames.empty()) continue;
    ++stacks;
    EXPECT_EQ(stack.id, IdOf(stack.frames)) << "frames of another stack";
  }
  std::printf(
      "%llu samples, %llu of them in other programs of ours, %llu with their stack; %llu kernel stacks, %llu "
      "intervals\n%s",
      static_cast<unsigned long long>(samples), static_cast<unsigned long long>(in_our_programs),
      static_cast<unsigned long long>(with_stack), static_cast<unsigned long long>(stacks),
      static_cast<unsigned long long>(recording.profile.stats.intervals), recording.LossesText().c_str());
  ASSERT_GE(samples, 100u) << "hardly any NMI came: no test";
  EXPECT_GE(in_our_programs, 1u) << "no program was interrupted: no test";
  EXPECT_GE(with_stack * 100, samples * 95);
  EXPECT_GE(recording.profile.stats.intervals, 10'000u) << "hardly anything to interrupt: no test";
}

}  // namespace
}  // namespace offcpu::integration
