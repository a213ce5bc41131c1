// A thread whose stack has a neighbour that must not be touched (see tests/targets/neighbours.cc) goes on as it does
// without a recorder, and so does the rest of the host: what hangs in a recorded thread holds up any process that
// switches a uprobe. Whatever hangs is let go by the end of the target, which comes by itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "tests/deep/tries.h"
#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// With room for a busy machine. What hangs here hangs for as long as the target lives.
constexpr std::chrono::seconds kPromptly{10};
constexpr uint64_t kHangNs = 500'000'000;

// Does the child end by then? It is not reaped.
bool EndsWithin(const Program& program, Clock::duration time) {
  for (const auto end = Clock::now() + time; Clock::now() < end; std::this_thread::sleep_for(milliseconds(10))) {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(program.pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0)
      return true;
  }
  return false;
}

void AwaitThreads(pid_t pid, long count) {
  const auto threads = [&] {
    std::error_code error;
    return std::distance(std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error),
                         std::filesystem::directory_iterator());
  };
  for (int i = 0; i < 6000 && threads() < count; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_GE(threads(), count);
}

std::string LineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// How often a thread has left a CPU; empty if it is gone.
std::string Switches(const std::string& directory) {
  std::ifstream file(directory + "/status");
  std::string switches;
  for (std::string line; std::getline(file, line);) {
    if (line.find("ctxt_switches") != std::string::npos) switches += line;
  }
  return switches;
}

// Directories of the threads in state D, kernel threads too, with how often each has left a CPU.
std::map<std::string, std::string> BlockedTasks() {
  std::map<std::string, std::string> blocked;
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
    if (std::atoi(process.path().filename().c_str()) == 0) continue;
    for (const auto& thread : std::filesystem::directory_iterator(process.path() / "task", error)) {
      const std::string stat = LineOf(thread.path() / "stat");
      const size_t end_of_name = stat.rfind(") ");
      if (end_of_name == std::string::npos || stat[end_of_name + 2] != 'D') continue;
      blocked[thread.path()] = Switches(thread.path());
    }
  }
  return blocked;
}

// Those that stay so for ten seconds, and were not `before`: what hangs does so for as long as the neighbour lives.
// What waits for a disk or for the end of other readers goes on before.
std::string HangingTasks(const std::map<std::string, std::string>& before) {
  std::map<std::string, std::string> hanging = BlockedTasks();
  std::erase_if(hanging, [&](const auto& task) {
    const auto found = before.find(task.first);
    return found != before.end() && found->second == task.second;
  });
  for (int i = 0; i < 100 && !hanging.empty(); ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    const std::map<std::string, std::string> now = BlockedTasks();
    std::erase_if(hanging, [&](const auto& task) {
      const auto found = now.find(task.first);
      return found == now.end() || found->second != task.second;
    });
  }
  std::string text;
  for (const auto& [directory, switches] : hanging) {
    text += directory + " " + LineOf(directory + "/comm") + "\n" + ReadFile(directory + "/stack");
  }
  return text;
}

struct Outcome {
  uint64_t naps = 0;
  uint64_t longest_ns = 0;
  uint64_t touched = 0;  // pages of the neighbour
  uint64_t served = 0;
  bool has_ended = false;
  uint64_t switch_ns = 0;  // of a uprobe, on and off, the median; 0: there are none
  uint64_t longest_switch_ns = 0;
  std::string folded;
};

class Neighbours : public CliTest {
 protected:
  ~Neighbours() override {
    // In this order: the others may wait for it.
    target_.reset();
    recorder_.reset();
    switcher_.reset();
  }

  Outcome Run(const std::string& place, const std::string& seconds, bool recorded) {
    const std::map<std::string, std::string> blocked_before = BlockedTasks();
    target_ = Target::Start({"neighbours", place, "--seconds", seconds});
    switcher_ = Target::Start({"uprobes", "--rounds", "7"});
    if (target_ == nullptr || switcher_ == nullptr) return {};
    if (recorded) StartRecorder();
    target_->Go();
    std::this_thread::sleep_for(milliseconds(50));  // let it be recorded when the uprobe is switched
    switcher_->Go();
    target_->AwaitDone();
    if (recorded) {
      EXPECT_EQ(HangingTasks(blocked_before), "");
      EndRecorder();
    }
    return CollectOutcome();
  }

  void StartRecorder() {
    recorder_ = Start({BinDirectory() + "/offcpu", "record", "--sample", "0", "-p", std::to_string(target_->pid()),
                       "-o", Path("out.folded")});
    AwaitThreads(recorder_->pid(), 2);
  }

  // While the target lives, with whatever hangs in it.
  void EndRecorder() {
    recorder_->Signal(SIGINT);
    if (EndsWithin(*recorder_, kPromptly)) {
      EXPECT_EQ(recorder_->Wait(), 0) << ReadFile(Path("stderr"));
    } else {
      ADD_FAILURE() << "the recorder does not end";
    }
  }

  Outcome CollectOutcome() {
    Outcome outcome;
    outcome.naps = target_->Value("naps");
    outcome.longest_ns = target_->Value("longest_ns");
    outcome.touched = target_->Value("touched");
    outcome.served = target_->Value("served");
    outcome.has_ended = target_->Value("has_ended") != 0;
    target_.reset();  // what waits for it goes on
    switcher_->AwaitDone();
    outcome.switch_ns = switcher_->Value("median_ns");
    outcome.longest_switch_ns = switcher_->Value("longest_ns");
    switcher_.reset();
    recorder_.reset();
    outcome.folded = ReadFile(Path("out.folded"));
    return outcome;
  }

  void ExpectAsWithout(const std::string& place, const std::string& seconds = "0.8") {
    // What hangs does so in each try; the whole host does not pause in all three.
    EXPECT_TRUE(HoldsInOneOf(3, [&] { return GoesOnAsWithout(place, seconds); }));
    EXPECT_THAT(folded_, testing::HasSubstr("neighbour_nap")) << ReadFile(Path("stderr"));
  }

  bool GoesOnAsWithout(const std::string& place, const std::string& seconds) {
    const Outcome without = Run(place, seconds, false);
    const Outcome with = Run(place, seconds, true);
    for (const auto& [name, outcome] : {std::pair("without", &without), std::pair("with", &with)}) {
      std::printf(
          "%-8s %4llu naps, the longest %.1f ms, %llu faults served, uprobes switched in %.1f, at most %.1f ms\n", name,
          static_cast<unsigned long long>(outcome->naps), static_cast<double>(outcome->longest_ns) / 1e6,
          static_cast<unsigned long long>(outcome->served), static_cast<double>(outcome->switch_ns) / 1e6,
          static_cast<double>(outcome->longest_switch_ns) / 1e6);
    }
    EXPECT_TRUE(with.has_ended) << "the thread hangs";
    EXPECT_EQ(without.touched, 0u);
    EXPECT_EQ(with.touched, 0u);
    folded_ = with.folded;
    // What a capture costs is another test's: on a busy machine one run may have had half of the other's CPU and less.
    // A thread that hangs makes a nap or two.
    return with.naps >= without.naps / 4 && with.longest_ns < std::max(kHangNs, 2 * without.longest_ns) &&
           with.served >= without.served / 4 && AreSwitchesAsQuick(with, without);
  }

  static bool AreSwitchesAsQuick(const Outcome& with, const Outcome& without) {
    if (without.switch_ns == 0) {
      std::printf("this kernel has no uprobes\n");
      return true;
    }
    // Each switch waits for some grace periods; one that finds a reader, however short, looks again after 0.1 s.
    constexpr uint64_t kOneLookNs = 100'000'000;
    return with.switch_ns < std::max(2 * without.switch_ns, kOneLookNs) &&
           with.longest_switch_ns < std::max(2 * without.longest_switch_ns, kHangNs);
  }

  std::string folded_;  // what was recorded
  std::unique_ptr<Target> target_;
  std::unique_ptr<Target> switcher_;
  std::unique_ptr<Program> recorder_;
};

TEST_F(Neighbours, FaultsThatNobodyServes) { ExpectAsWithout("uffd-above"); }

TEST_F(Neighbours, FaultsThatTheThreadItselfServes) { ExpectAsWithout("uffd-served"); }

TEST_F(Neighbours, StackWithFaultsThatNobodyServes) { ExpectAsWithout("uffd-stack"); }

TEST_F(Neighbours, FileWhoseServerDoesNotAnswer) { ExpectAsWithout("fuse-above"); }

TEST_F(Neighbours, StackInAFileWhoseServerDoesNotAnswer) { ExpectAsWithout("fuse-stack"); }

TEST_F(Neighbours, SharedMemory) { ExpectAsWithout("shared-above"); }

TEST_F(Neighbours, SharedFileInMemory) { ExpectAsWithout("memfd-above"); }

TEST_F(Neighbours, File) { ExpectAsWithout("file-above"); }

TEST_F(Neighbours, NoAccessAboveAStackOfOnePage) { ExpectAsWithout("none-above"); }

TEST_F(Neighbours, NothingAboveAStackOfOnePage) { ExpectAsWithout("hole-above"); }

TEST_F(Neighbours, StackThatGrows) { ExpectAsWithout("grows-down"); }

// A walk asks for a piece of the stack that is said to be there, after some captures: what is not in memory stays away.
TEST_F(Neighbours, AskedForWithFaultsThatNobodyServes) {
  ExpectAsWithout("uffd-asked", "2.5");
  EXPECT_THAT(folded_, testing::HasSubstr(
                           "[truncated: stack not read];__pthread_kill_implementation;__restore_rt;neighbour_forge"));
}

TEST_F(Neighbours, AskedForInAFileWhoseServerDoesNotAnswer) {
  ExpectAsWithout("fuse-asked", "2.5");
  EXPECT_THAT(folded_, testing::HasSubstr(
                           "[truncated: stack not read];__pthread_kill_implementation;__restore_rt;neighbour_forge"));
}

}  // namespace
}  // namespace offcpu::integration
