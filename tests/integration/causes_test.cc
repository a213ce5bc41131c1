// Each wait has its cause and its system call: compared with what the program knows that it waits in.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "classify/idle_match.h"
#include "classify/system_calls.h"
#include "classify/wait_cause.h"
#include "symbolize/symbolizer.h"
#include "tests/harness/cgroup_hierarchy.h"
#include "tests/harness/harness.h"
#include "tests/harness/load.h"
#include "tests/harness/real_program.h"
#include "tests/harness/record_until.h"

namespace offcpu::integration {
namespace {

struct Expected {
  const char* thread;
  const char* function;
  std::set<std::string> causes;
  std::set<std::string> syscalls;  // "" for none
};

// What a wait below a function of a thread is called.
struct Named {
  const char* thread;
  const char* function;
  std::string wait;
};

bool IsWait(const StackRow& row) { return row.row->kind == WaitKind::kSleeping || row.row->kind == WaitKind::kDisk; }

// The threads of a process also wait for the lock of its memory, in every call that maps some, in every fault, and
// while their stacks are copied for this recording.
bool WaitsForMemory(const StackRow& row) {
  return std::any_of(row.kernel.begin(), row.kernel.end(),
                     [](std::string_view name) { return name.starts_with("rwsem_down_"); });
}

// Expects the causes of the time that a thread waits below the function.
void ExpectCauses(const Recording& recording, const Target& target, const std::vector<Expected>& all) {
  WaitCauses causes(recording.profile);
  for (const Expected& expected : all) {
    uint64_t right_ns = 0;
    uint64_t ns = 0;
    std::map<std::string, uint64_t> others;
    for (const StackRow& row : recording.Rows([&](const StackRow& r) {
           return r.comm == expected.thread && IsWait(r) && !WaitsForMemory(r) && r.Has(expected.function);
         })) {
      const std::string cause(Name(causes.Of(*row.row)));
      const std::string syscall = SystemCallName(row.row->syscall);
      const bool right = expected.causes.contains(cause) && expected.syscalls.contains(syscall);
      ns += row.row->total_ns();
      right_ns += right ? row.row->total_ns() : 0;
      if (!right) others[cause + " in " + syscall + "\n" + row.Text()] += row.row->total_ns();
    }
    const Measure measured = target.Measured(expected.thread, expected.function);
    std::printf("%-12s %5llu waits, %.3f ms of %.3f ms with its cause\n", expected.thread,
                static_cast<unsigned long long>(measured.count), static_cast<double>(right_ns) / 1e6,
                static_cast<double>(ns) / 1e6);
    ASSERT_GT(ns, 0u) << expected.thread << " does not wait: no test\n" << recording.LossesText();
    EXPECT_GE(static_cast<double>(right_ns), 0.99 * static_cast<double>(ns)) << expected.thread;
    if (static_cast<double>(right_ns) >= 0.99 * static_cast<double>(ns)) continue;
    for (const auto& [what, other_ns] : others) std::printf("%llu ns %s\n", (unsigned long long)other_ns, what.c_str());
  }
}

// Names waits as `offcpu record` does, and expects that what is blocked below the function of a thread is called so.
// The program measures all that its thread is off the CPU there, wherever that is preempted.
void ExpectWaits(Recording* recording, const Target& target, const std::vector<Named>& all) {
  NameWaits(DefaultIdlePatterns(), &recording->profile);
  for (const Named& expected : all) {
    const auto is_at = [&](const StackRow& row) { return row.comm == expected.thread && row.Has(expected.function); };
    std::map<std::string, uint64_t> named;
    for (const StackRow& row : recording->Rows(is_at)) named[std::string(row.row->wait)] += row.row->blocked_ns;
    const Measure measured = target.Measured(expected.thread, expected.function);
    std::printf("%-12s %5llu waits, %.3f ms measured:", expected.thread, (unsigned long long)measured.count,
                static_cast<double>(measured.ns) / 1e6);
    for (const auto& [name, ns] : named) std::printf("  %s %.3f ms", name.c_str(), static_cast<double>(ns) / 1e6);
    std::printf("\n");
    uint64_t blocked_ns = 0;
    for (const auto& [name, ns] : named) blocked_ns += ns;
    // Beside a load most of what the program measures may be waiting for a CPU.
    ASSERT_GT(blocked_ns, 0u) << expected.thread << " never waits: no test\n" << recording->LossesText();
    EXPECT_GE(static_cast<double>(named[expected.wait]), 0.99 * static_cast<double>(blocked_ns)) << expected.thread;
    // The way from the program's clock to the switch and back is off the CPU to neither of both clocks of the kernel.
    const auto is_of_thread = [&](const StackRow& row) { return row.comm == expected.thread; };
    EXPECT_GE(recording->Sum(is_of_thread).ns, measured.ns * 95 / 100) << recording->LossesText();
  }
}

TEST(Causes, OfWaitsForOtherThreadsAreTheirOwn) {
  const std::unique_ptr<Target> target = Target::Start({"primitives", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  Recording recording = Record(Unthrottled({target->pid()}), *target);
  ExpectWaits(&recording, *target,
              {{"p_mutex", "wait_in_mutex", "mutex"},
               {"p_rwlock", "wait_in_rwlock", "read-write lock"},
               {"p_condvar", "wait_in_condvar", "condition variable"},
               {"p_semaphore", "wait_in_semaphore", "semaphore"},
               {"p_barrier", "wait_in_barrier", "barrier"},
               {"p_join", "wait_in_join", "join"},
               {"p_once", "wait_in_once", "once"},
               {"p_sleep", "wait_in_sleep", "sleep"}});
}

TEST(Causes, OfTheUsualWaits) {
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  ExpectCauses(recording, *target,
               {{"w_nanosleep", "wait_in_nanosleep", {"sleep"}, {"nanosleep", "clock_nanosleep"}},
                {"w_futex", "wait_in_futex", {"futex"}, {"futex"}},
                {"w_mutex", "wait_in_mutex", {"futex"}, {"futex"}},
                {"w_condvar", "wait_in_condvar", {"futex"}, {"futex"}},
                {"w_pipe", "wait_in_pipe", {"pipe"}, {"read"}},
                {"w_poll", "wait_in_poll", {"poll"}, {"poll"}},
                {"w_epoll", "wait_in_epoll", {"poll"}, {"epoll_wait"}}});
}

TEST(Causes, OfTheOtherWaits) {
  const TemporaryDirectory directory;
  const std::unique_ptr<Target> target = Target::Start({"causes", directory.path(), "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  std::vector<Expected> expected = {
      {"c_unix", "wait_in_unix", {"network"}, {"read"}},
      {"c_accept", "wait_in_accept", {"network"}, {"accept"}},
      {"c_select", "wait_in_select", {"poll"}, {"select", "pselect6"}},
      {"c_eventfd", "wait_in_eventfd", {"pipe"}, {"read"}},
      {"c_timerfd", "wait_in_timerfd", {"sleep"}, {"read"}},
      {"c_flock", "wait_in_flock", {"file lock"}, {"flock"}},
      {"c_waitpid", "wait_in_waitpid", {"child"}, {"wait4"}},
      {"c_spawn", "wait_in_spawn", {"vfork"}, {"clone", "clone3"}},
      {"c_vfork", "wait_in_vfork", {"vfork"}, {"vfork"}},
      {"c_fault", "wait_in_fault", {"page fault"}, {""}},
      {"c_fsync", "wait_in_fsync", {"file", "block I/O"}, {"fsync", "pwrite64"}},
  };
  // Not every file system has the one, nor every kernel the other.
  for (const std::string& line : target->Lines("measured")) {
    if (line.starts_with("c_direct")) expected.push_back({"c_direct", "wait_in_direct", {"block I/O"}, {"pread64"}});
    // A sleep that a signal has interrupted, as that of an ended child, goes on as another system call.
    if (line.starts_with("c_compat"))
      expected.push_back({"c_compat", "wait_in_compat", {"sleep"}, {"nanosleep", "restart_syscall"}});
  }
  ExpectCauses(recording, *target, expected);
}

// With those above there are some thirty kinds of waiting.
TEST(Causes, OfWaitsThatAreSeldom) {
  const TemporaryDirectory directory;
  const std::unique_ptr<Target> target = Target::Start({"kernel_waits", directory.path(), "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  std::vector<Expected> expected = {
      {"k_setlkw", "wait_in_setlkw", {"file lock"}, {"fcntl"}},
      {"k_semop", "wait_in_semop", {"semaphore"}, {"semop", "semtimedop"}},
      {"k_msgrcv", "wait_in_msgrcv", {"message queue"}, {"msgrcv"}},
      {"k_signalfd", "wait_in_signalfd", {"signal"}, {"read"}},
      {"k_sigwait", "wait_in_sigwait", {"signal"}, {"rt_sigtimedwait"}},
      {"k_pause", "wait_in_pause", {"signal"}, {"pause"}},
      {"k_inotify", "wait_in_inotify", {"file event"}, {"read"}},
      {"k_tty", "wait_in_tty", {"terminal"}, {"read"}},
      {"k_full_pipe", "wait_in_full_pipe", {"pipe"}, {"write"}},
      {"k_fifo", "wait_in_fifo", {"pipe"}, {"openat"}},
      {"k_datagram", "wait_in_datagram", {"network"}, {"recvfrom"}},
  };
  // Not every kernel has these.
  for (const std::string& line : target->Lines("measured")) {
    if (line.starts_with("k_mq")) expected.push_back({"k_mq", "wait_in_mq", {"message queue"}, {"mq_timedreceive"}});
    if (line.starts_with("k_uring")) expected.push_back({"k_uring", "wait_in_uring", {"poll"}, {"io_uring_enter"}});
  }
  ExpectCauses(recording, *target, expected);
}

// Where clone and vfork return twice, tables leave out what they say of the parent.
TEST(Causes, OfVforkHaveWholeStacks) {
  const TemporaryDirectory directory;
  const std::unique_ptr<Target> target = Target::Start({"causes", directory.path(), "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  WaitCauses causes(recording.profile);
  for (const std::string what : {"spawn", "vfork"}) {
    const auto waits = [&](const StackRow& row) {
      return row.comm == "c_" + what && causes.Of(*row.row) == WaitCause::kVfork;
    };
    const Measure all = recording.Sum(waits);
    const Measure whole = recording.Sum([&](const StackRow& row) {
      return waits(row) && row.complete() && row.Calls({"start_thread", "wait_in_" + what});
    });
    std::printf("%s: %llu of %llu waits whole, %.2f %% of %.3f ms\n", what.c_str(), (unsigned long long)whole.count,
                (unsigned long long)all.count, 100.0 * static_cast<double>(whole.ns) / static_cast<double>(all.ns),
                static_cast<double>(all.ns) / 1e6);
    EXPECT_GT(all.count, 10u) << "hardly any: no test";
    EXPECT_GE(whole.ns, all.ns * 99 / 100) << recording.LossesText();
  }
}

TEST(Causes, OfWhoWantsToRun) {
  const std::unique_ptr<Target> target = Target::Start({"states", "hogs", "--seconds", "1"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  WaitCauses causes(recording.profile);
  uint64_t in_user_mode_ns = 0;
  for (const StackRow& row :
       recording.Rows([](const StackRow& r) { return r.comm.starts_with("hog_") && r.Has("hog_loop"); })) {
    EXPECT_EQ(causes.Of(*row.row), WaitCause::kPreempted) << row.Text();
    if (row.row->syscall == kNoSystemCall) in_user_mode_ns += row.row->total_ns();
  }
  EXPECT_GT(in_user_mode_ns, 500'000'000u) << "interrupts are taken for system calls";
}

// For how long, throttled_test of tests/deep compares with the kernel's own account. Others may not keep the group from
// using up its time, so it goes before them.
TEST(Causes, OfAGroupThatHasUsedItsTimeAreThrottled) {
  const std::optional<CgroupHierarchy> hierarchy = FindCgroupHierarchy("cpu");
  ASSERT_TRUE(hierarchy.has_value()) << "no control groups for CPU time";
  const std::string path = hierarchy->parent() + "/offcpu-used-" + std::to_string(getpid());
  if (hierarchy->is_v2) WriteCgroupFile(hierarchy->parent() + "/cgroup.subtree_control", "+cpu");
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0) << path << ": " << std::strerror(errno);
  EXPECT_TRUE(hierarchy->is_v2 ? WriteCgroupFile(path + "/cpu.max", "5000 100000")
                               : WriteCgroupFile(path + "/cpu.cfs_quota_us", "5000"));
  EXPECT_TRUE(hierarchy->is_v2 ? WriteCgroupFile(path + "/cpu.weight", "10000")
                               : WriteCgroupFile(path + "/cpu.shares", "262144"));
  {
    const std::unique_ptr<Target> target = Target::Start({"duty", "--seconds", "90"});
    ASSERT_NE(target, nullptr);
    EXPECT_TRUE(WriteCgroupFile(path + "/cgroup.procs", std::to_string(target->pid())));
    uint64_t throttled = 0;
    RecordUntil(Unthrottled({target->pid()}), *target, [&throttled](const Recording& window) {
      WaitCauses causes(window.profile);
      for (const StackRow& row :
           window.Rows([&](const StackRow& r) { return causes.Of(*r.row) == WaitCause::kThrottled; })) {
        EXPECT_EQ(row.row->runnable_ns, row.row->total_ns()) << row.Text();
        throttled += row.row->count;
      }
      return throttled >= 3;
    });
  }
  rmdir(path.c_str());
}

// What freezes a control group and what thaws it.
struct Freezer {
  bool is_v2;
  const char* file;
  const char* frozen;
  const char* thawed;
};

// A control group that is frozen for half a second, with a thread that never sleeps of itself.
class Frozen : public testing::TestWithParam<Freezer> {
 protected:
  void SetUp() override {
    const bool is_v2 = GetParam().is_v2;
    const std::optional<CgroupHierarchy> hierarchy = is_v2 ? FindUnifiedHierarchy() : FindCgroupHierarchy("freezer");
    if (!hierarchy.has_value() || hierarchy->is_v2 != is_v2) GTEST_SKIP() << "no such control groups";
    path_ = hierarchy->parent() + "/offcpu-frozen-" + std::to_string(getpid());
    ASSERT_EQ(mkdir(path_.c_str(), 0755), 0) << path_ << ": " << std::strerror(errno);
    busy_ = StartBusyLoop(0);
    ASSERT_NE(busy_, nullptr);
    ASSERT_TRUE(WriteCgroupFile(path_ + "/cgroup.procs", std::to_string(busy_->pid())));
  }
  void TearDown() override {
    if (path_.empty()) return;
    Thaw();  // who is frozen does not end
    busy_.reset();
    rmdir(path_.c_str());
  }

  // Returns when all of the group is frozen.
  void Freeze() const {
    ASSERT_TRUE(WriteCgroupFile(path_ + GetParam().file, GetParam().frozen));
    while (!IsFrozen()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void Thaw() const { ASSERT_TRUE(WriteCgroupFile(path_ + GetParam().file, GetParam().thawed)); }

  std::unique_ptr<Program> busy_;

 private:
  bool IsFrozen() const {
    if (!GetParam().is_v2) return ReadCgroupFile(path_ + GetParam().file) == GetParam().frozen;
    std::ifstream file(path_ + "/cgroup.events");
    int value = 0;
    for (std::string word; file >> word >> value;) {
      if (word == "frozen") return value == 1;
    }
    return false;
  }

  std::string path_;
};

TEST_P(Frozen, IsACauseOfItsOwn) {
  using Clock = std::chrono::steady_clock;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(Unthrottled({busy_->pid()}));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const Clock::time_point asked = Clock::now();
  Freeze();
  const Clock::time_point frozen = Clock::now();
  const SchedStatFile cpu(busy_->pid(), busy_->pid());
  const uint64_t before_ns = cpu.Read()->cpu_ns;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const Clock::time_point thaws = Clock::now();
  Thaw();
  const Clock::time_point thawed = Clock::now();
  ASSERT_TRUE(HoldsWithin(std::chrono::seconds(20), [&] { return cpu.Read()->cpu_ns > before_ns; }));
  const Recording recording = MustStop(**recorder);
  WaitCauses causes(recording.profile);
  uint64_t blocked_ns = 0;
  for (const StackRow& row :
       recording.Rows([&](const StackRow& r) { return causes.Of(*r.row) == WaitCause::kFrozen; })) {
    blocked_ns += row.row->blocked_ns;
  }
  EXPECT_GE(std::chrono::nanoseconds(blocked_ns), thaws - frozen) << recording.LossesText();
  EXPECT_LE(std::chrono::nanoseconds(blocked_ns), thawed - asked);
}

// Those of the two versions that this host has.
std::vector<Freezer> Freezers() {
  std::vector<Freezer> freezers = {{true, "/cgroup.freeze", "1", "0"}};
  const std::optional<CgroupHierarchy> hierarchy = FindCgroupHierarchy("freezer");
  if (hierarchy.has_value() && !hierarchy->is_v2) freezers.push_back({false, "/freezer.state", "FROZEN", "THAWED"});
  return freezers;
}

INSTANTIATE_TEST_SUITE_P(ControlGroups, Frozen, testing::ValuesIn(Freezers()),
                         [](const testing::TestParamInfo<Freezer>& freezer) {
                           return freezer.param.is_v2 ? "v2" : "v1";
                         });

// By a signal, and by a debugger.
TEST(Causes, OfWhatIsStopped) {
  const std::unique_ptr<Program> busy = StartBusyLoop(0);
  ASSERT_NE(busy, nullptr);
  const auto stopped_ns = [&busy](const std::function<void()>& stop, const std::function<void()>& resume) {
    absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(Unthrottled({busy->pid()}));
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    if (!recorder.ok()) return uint64_t{0};
    stop();
    EXPECT_TRUE(HoldsWithin(std::chrono::seconds(20), [&busy] {
      std::ifstream file("/proc/" + std::to_string(busy->pid()) + "/stat");
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      const char state = text[text.rfind(')') + 2];
      return state == 'T' || state == 't';
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    resume();
    const SchedStatFile cpu(busy->pid(), busy->pid());
    const uint64_t before_ns = cpu.Read()->cpu_ns;
    EXPECT_TRUE(HoldsWithin(std::chrono::seconds(20), [&] { return cpu.Read()->cpu_ns > before_ns; }));
    const Recording recording = MustStop(**recorder);
    WaitCauses causes(recording.profile);
    uint64_t ns = 0;
    for (const StackRow& row :
         recording.Rows([&](const StackRow& r) { return causes.Of(*r.row) == WaitCause::kStopped; })) {
      ns += row.row->blocked_ns;
    }
    return ns;
  };
  EXPECT_GE(stopped_ns([&busy] { busy->Signal(SIGSTOP); }, [&busy] { busy->Signal(SIGCONT); }), 100'000'000u);
  EXPECT_GE(stopped_ns(
                [&busy] {
                  ASSERT_EQ(ptrace(PTRACE_SEIZE, busy->pid(), 0, 0), 0) << std::strerror(errno);
                  ASSERT_EQ(ptrace(PTRACE_INTERRUPT, busy->pid(), 0, 0), 0) << std::strerror(errno);
                  int status = 0;
                  ASSERT_EQ(waitpid(busy->pid(), &status, __WALL), busy->pid());
                },
                [&busy] { ASSERT_EQ(ptrace(PTRACE_DETACH, busy->pid(), 0, 0), 0) << std::strerror(errno); }),
            100'000'000u);
}

// What has not ended has the same cause as what has.
TEST(Causes, OfOpenWaitsAreThoseOfTheOthers) {
  const std::unique_ptr<Target> target = Target::Start({"blocked"});
  ASSERT_NE(target, nullptr);
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(Unthrottled({target->pid()}));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  ASSERT_TRUE(profile.ok()) << profile.status();
  const Recording recording = {.profile = Symbolize(*profile)};
  WaitCauses causes(recording.profile);
  std::map<std::string, std::set<std::string>> seen;  // by thread
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.row->kind == WaitKind::kOpen; })) {
    seen[row.comm].insert(std::string(Name(causes.Of(*row.row))) + " in " + SystemCallName(row.row->syscall));
  }
  EXPECT_EQ(seen["reader"], std::set<std::string>{"pipe in read"});
  EXPECT_EQ(seen["waiter"], std::set<std::string>{"futex in futex"});
  EXPECT_EQ(seen["big"], std::set<std::string>{"pipe in read"});
}

}  // namespace
}  // namespace offcpu::integration
