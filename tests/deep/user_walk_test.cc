// User stacks that the BPF programs walk at switches: each is what the capture of the same kernel entry says, in
// programs that wait in many ways, change their code, and go instruction by instruction; most waits need no capture
// then; and what is recorded is what captures alone record.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "bpf_programs/kernel.h"
#include "tests/deep/stepper.h"
#include "tests/harness/harness.h"
#include "tests/harness/load.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

constexpr char kDiffers[] = "user stack walked wrongly";

bool CanWalk() {
  const absl::StatusOr<KernelFeatures> features = ProbeKernel();
  return features.ok() && features->can_read_user && features->mm_tree;
}

RecordConfig WithOdds(std::vector<pid_t> pids, uint32_t proof_odds) {
  RecordConfig config = Unthrottled(std::move(pids));
  config.proof_odds = proof_odds;
  return config;
}

void ExpectNoneWrong(const Recording& recording, uint64_t proven_at_least) {
  const ProfileStats& stats = recording.profile.stats;
  std::printf("%" PRIu64 " intervals, %" PRIu64 " captures, %" PRIu64 " walks proven\n", stats.intervals,
              stats.captures, stats.proven_walks);
  EXPECT_EQ(recording.FindLoss(kDiffers), nullptr) << recording.LossesText();
  EXPECT_GE(stats.proven_walks, proven_at_least)
      << "hardly any walk: no test; new stack, new code, no row, no memory: " << absl::StrJoin(stats.walk_misses, ", ")
      << "; " << recording.LossesText();
}

// Each walk is proven by a capture.
class UserWalks : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  void SetUp() override {
    if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  }
};

TEST_P(UserWalks, AreAllAsTheirCaptures) {
  const std::unique_ptr<Target> target = Target::Start(GetParam());
  ASSERT_NE(target, nullptr);
  RecordConfig config = WithOdds({target->pid()}, 1);
  config.follow_forks = true;
  ExpectNoneWrong(Record(config, *target), 20);
}

std::string NameOf(const testing::TestParamInfo<std::vector<std::string>>& info) {
  std::string name = absl::StrJoin(info.param, "_");
  for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(, UserWalks,
                         testing::Values(std::vector<std::string>{"deep", "--seconds", "1"},
                                         std::vector<std::string>{"deep", "--big", "--seconds", "1"},
                                         std::vector<std::string>{"two_callers", "--rounds", "1000"},
                                         std::vector<std::string>{"waits", "--seconds", "1"},
                                         std::vector<std::string>{"waits", "--seconds", "1", "--fork-ms", "2"},
                                         std::vector<std::string>{"mix", "--lanes", "6"},
                                         std::vector<std::string>{"pingpong", "--seconds", "1"},
                                         std::vector<std::string>{"churn", "dlopen", "--rounds", "400"},
                                         std::vector<std::string>{"mappings", "--count", "100", "--changing"},
                                         std::vector<std::string>{"remap", "fixed", "--rounds", "200"},
                                         std::vector<std::string>{"remap", "mprotect", "--rounds", "600"},
                                         std::vector<std::string>{"remap", "generated", "--rounds", "200"},
                                         std::vector<std::string>{"remap", "rewritten", "--rounds", "200"}),
                         NameOf);

// Other code is mapped over code that has just waited: each library's function is called by one of the program's.
TEST(UserWalk, OfCodeThatIsMappedOverIsThatOfTheCode) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  const std::unique_ptr<Target> target = Target::Start({"remap", "fixed", "--rounds", "1000"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(WithOdds({target->pid()}, 1000), *target);
  // A capture whose code is gone before anybody has looked at it has no stack: any stack has to be right.
  constexpr uint64_t kEnough = 100;
  EXPECT_GE(recording.profile.stats.walked_at_switch, kEnough) << "hardly any walk: no test";
  const auto expect_callers = [&](const char* code, const char* caller, const char* other) {
    const Measure right = recording.Sum([code, caller](const StackRow& row) {
      return row.complete() && row.Has("remap_wait") && row.Has(code) && row.Has(caller);
    });
    const Measure wrong = recording.Sum([code, other](const StackRow& row) { return row.Has(code) && row.Has(other); });
    EXPECT_GE(right.count, kEnough) << code << ": " << recording.LossesText();
    EXPECT_EQ(wrong.count, 0u) << code;
  };
  expect_callers("lib_a_call", "call_a", "call_b");
  expect_callers("lib_b_call", "call_b", "call_a");
}

// Where a program writes its code over as it likes, nothing tells who has called it: so every caller is marked as a
// guess, that of the function that keeps a frame pointer, too.
TEST(UserWalk, OfCodeThatIsRewrittenIsAGuess) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  const std::unique_ptr<Target> target = Target::Start({"remap", "rewritten", "--rounds", "200"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(WithOdds({target->pid()}, 1000), *target);
  EXPECT_GE(recording.profile.stats.walked_at_switch, 100u) << "hardly any walk: no test";
  const auto above = [](const StackRow& row, const char* function) -> const NamedFrame* {
    const std::vector<NamedFrame>& frames = row.user->frames;
    const auto found =
        std::find_if(frames.begin(), frames.end(), [&](const NamedFrame& f) { return f.name() == function; });
    return frames.end() - found > 2 ? &found[2] : nullptr;  // the caller of the code
  };
  uint64_t guesses = 0;
  for (const char* function : {"below_honest", "below_lying"}) {
    for (const StackRow& row : recording.Rows([&](const StackRow& r) { return r.Has(function); })) {
      EXPECT_FALSE(row.complete() && above(row, function) == nullptr) << row.Text();
      const NamedFrame* caller = above(row, function);
      if (caller == nullptr) continue;
      EXPECT_EQ(caller->source, FrameSource::kFramePointer) << row.Text();
      guesses += row.row->count;
    }
  }
  EXPECT_GE(guesses, 100u) << "no caller is told: no test";
}

// Programs that are preempted wherever they are, that fault, map and unmap, and that come and go.
TEST(UserWalk, OfABusyHostAreAllAsTheirCaptures) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  if (!IsInstalled("stress-ng")) GTEST_SKIP() << "stress-ng is not installed";
  const TemporaryDirectory directory;
  Load load;
  load.Add({"stress-ng", "--temp-path", directory.path(),
            "--switch",  "1",           "--pipe",
            "1",         "--futex",     "1",
            "--poll",    "1",           "--timer",
            "1",         "--fault",     "1",
            "--sock",    "1",           "--sem",
            "1",         "--yield",     "1",
            "--mmap",    "1",           "--mmap-bytes",
            "16m",       "--qsort",     "1"});
  load.Add({BinDirectory() + "/targets/churn", "exec", "--rounds", "1000000", "--life-ms", "2"});
  load.AwaitThreads(12);
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(WithOdds({}, 1));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  ExpectNoneWrong(MustStop(**recorder), 1000);
}

// Each waits again and again, at the end of frames that only guesses lead through: of Go's runtime, of code in memory,
// of built-in functions without tables.
constexpr char kGoWaits[] = R"(cat >w.go <<'END'
package main
import ("os"; "time")
func nested(n int, f func()) { if n > 0 { nested(n-1, f) } else { f() } }
func main() {
  r, w, _ := os.Pipe()
  b := make([]byte, 1)
  go func() { for { nested(3, func() { time.Sleep(time.Millisecond); w.Write(b) }) } }()
  for { nested(5, func() { r.Read(b) }) }
}
END
go build -o w w.go && exec ./w)";

// Some of its threads are preempted anywhere, since there are more than CPUs.
constexpr char kGoServes[] = R"(cat >s.go <<'END'
package main
import ("net"; "os"; "time")
func main() {
  listener, _ := net.Listen("unix", "socket")
  for i := 0; i < 16; i++ {
    go func() {
      client, _ := net.Dial("unix", "socket")
      for b := make([]byte, 64); ; { client.Write(b); client.Read(b) }
    }()
  }
  for {
    server, err := listener.Accept()
    if err != nil { os.Exit(1) }
    go func() { for b := make([]byte, 64); ; { server.Read(b); time.Sleep(100 * time.Microsecond); server.Write(b) } }()
  }
}
END
go build -o s s.go && exec ./s)";

constexpr char kNodeWaits[] = R"(exec node -e '
const fs = require("fs");
const nested = (n, f) => n == 0 ? f() : nested(n - 1, f);
setInterval(() => nested(5, () => fs.readFile("/dev/null", () => {})), 1)')";

std::vector<RealProgram> Guessed() {
  return {{"go", "/usr/bin/go", kGoWaits, 3},
          {"go_server", "/usr/bin/go", kGoServes, 5},
          {"node", "/usr/bin/node", kNodeWaits, 5}};
}

class GuessedWalks : public testing::TestWithParam<RealProgram> {};
INSTANTIATE_TEST_SUITE_P(Of, GuessedWalks, testing::ValuesIn(Guessed()),
                         [](const auto& program) { return program.param.name; });

TEST_P(GuessedWalks, AreAllAsTheirCaptures) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  if (!GetParam().is_installed()) GTEST_SKIP() << GetParam().name << " is not installed";
  const RunningProgram program(GetParam());
  const auto has_begun = [&] { return Threads(program.pid()).size() >= GetParam().threads; };
  ASSERT_TRUE(HoldsWithin(std::chrono::seconds(60), has_begun)) << program.errors();
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(WithOdds({program.pid()}, 1));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  ExpectNoneWrong(MustStop(**recorder), 100);
}

// Every instruction is a wait, which the tracer ends.
TEST(UserWalk, OfEveryInstructionIsAsItsCapture) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  const std::unique_ptr<Stepper> stepper = Stepper::Start({BinDirectory() + "/targets/stepped", "short"}, false);
  ASSERT_NE(stepper, nullptr);
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(WithOdds({stepper->pid()}, 1));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  constexpr uint64_t kSteps = 60'000;
  while (stepper->steps() < kSteps && stepper->Step()) {
  }
  EXPECT_EQ(stepper->error(), "");
  ExpectNoneWrong(MustStop(**recorder), 200);
}

// A program that is stopped wherever it is put, above a stack on which every word is the address of its outermost
// frame: so each row leads to the end. It executes one instruction there, without registers that point anywhere else.
class PutAnywhere {
 public:
  static std::unique_ptr<PutAnywhere> Start(const std::vector<std::string>& words) {
    std::unique_ptr<Stepper> stepper = Stepper::Start(words, false);
    return stepper == nullptr ? nullptr : std::unique_ptr<PutAnywhere>(new PutAnywhere(std::move(stepper)));
  }

  pid_t pid() const { return stepper_->pid(); }

  // Every address of the code of this library that `stride` comes to.
  std::vector<uint64_t> AddressesOf(std::string_view library, uint64_t stride) const {
    std::vector<uint64_t> addresses;
    std::ifstream maps("/proc/" + std::to_string(pid()) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      uint64_t begin = 0;
      uint64_t end = 0;
      if (line.find(library) == std::string::npos || line.find(" r-xp ") == std::string::npos) continue;
      if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &begin, &end) != 2) continue;
      for (uint64_t address = begin; address < end; address += stride) addresses.push_back(address);
    }
    return addresses;
  }

  // False: it is gone.
  bool Put(uint64_t pc) {
    if (puts_++ % 16 == 0 && !FillStack()) return false;
    user_regs_struct regs = {};
    regs.rip = pc;
    regs.rsp = begin_ + kBelow;
    regs.rbp = regs.rsp + kStack / 2;
    regs.rax = regs.orig_rax = UINT64_MAX;  // no system call
    regs.cs = now_.cs;
    regs.ss = now_.ss;
    regs.fs_base = now_.fs_base;
    regs.eflags = now_.eflags;
    int status = 0;
    return ptrace(PTRACE_SETREGS, pid(), nullptr, &regs) == 0 &&
           ptrace(PTRACE_SINGLESTEP, pid(), nullptr, nullptr) == 0 && waitpid(pid(), &status, 0) == pid() &&
           WIFSTOPPED(status);
  }

 private:
  static constexpr uint64_t kBelow = 4096;  // for what the instruction pushes
  static constexpr uint64_t kStack = 16384;

  explicit PutAnywhere(std::unique_ptr<Stepper> stepper) : stepper_(std::move(stepper)) {
    ptrace(PTRACE_GETREGS, pid(), nullptr, &now_);
    begin_ = (now_.rsp - 4 * kStack) / 16 * 16;
    constexpr uint64_t kWithinStart = 8;  // of its code
    words_.assign((kBelow + kStack) / sizeof(uint64_t), now_.rip + kWithinStart);
  }

  bool FillStack() const {
    const iovec from = {.iov_base = const_cast<uint64_t*>(words_.data()), .iov_len = words_.size() * sizeof(uint64_t)};
    const iovec to = {.iov_base = reinterpret_cast<void*>(begin_), .iov_len = from.iov_len};
    return process_vm_writev(pid(), &from, 1, &to, 1, 0) == static_cast<ssize_t>(from.iov_len);
  }

  std::unique_ptr<Stepper> stepper_;
  user_regs_struct now_ = {};  // at its entry
  uint64_t begin_ = 0;
  std::vector<uint64_t> words_;
  uint64_t puts_ = 0;
};

// With OFFCPU_STRIDE=1 at every address, which takes minutes.
TEST(UserWalk, OfEveryAddressOfLibrariesIsAsItsCapture) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  const char* asked = std::getenv("OFFCPU_STRIDE");
  const uint64_t stride = asked == nullptr ? 307 : std::strtoull(asked, nullptr, 10);  // a prime
  const std::unique_ptr<PutAnywhere> program = PutAnywhere::Start({BinDirectory() + "/targets/stepped_cxx"});
  ASSERT_NE(program, nullptr);
  std::vector<uint64_t> addresses = program->AddressesOf("/libc.so.6", stride);
  const std::vector<uint64_t> more = program->AddressesOf("/libstdc++.so.6", stride);
  ASSERT_FALSE(addresses.empty() || more.empty());
  addresses.insert(addresses.end(), more.begin(), more.end());
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(WithOdds({program->pid()}, 1));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  // The first time at an address its stack is new. When the window has ended, the programs know all that was captured
  // in it.
  constexpr size_t kAtATime = 1000;
  uint64_t proven = 0;
  for (size_t begin = 0; begin < addresses.size(); begin += kAtATime) {
    const size_t end = std::min(begin + kAtATime, addresses.size());
    for (int round = 0; round < 2; ++round) {
      for (size_t i = begin; i < end; ++i) ASSERT_TRUE(program->Put(addresses[i])) << addresses[i];
      const absl::StatusOr<Profile> window = (*recorder)->Cut();
      ASSERT_TRUE(window.ok()) << window.status();
      proven += window->stats.proven_walks;
      for (const Loss& loss : window->stats.losses) EXPECT_NE(loss.reason, kDiffers) << loss.count;
    }
  }
  std::printf("%zu addresses, %" PRIu64 " walks proven\n", addresses.size(), proven);
  EXPECT_GE(proven, addresses.size() / 2) << "hardly any walk: no test";
  EXPECT_EQ(MustStop(**recorder).FindLoss(kDiffers), nullptr);
}

// In the first half second all stacks are new, and the budgets may refuse some of their captures. People record for
// longer than a few times that.
constexpr std::chrono::seconds kLength{10};

// All of its waits are recorded, with the usual budgets for captures. One that goes on at the end has no stack if it is
// over before it is read, and may be longer than all that may be incomplete.
void ExpectNearlyAllComplete(const Load& load) {
  RecordConfig config;
  config.pids = load.Processes();
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::this_thread::sleep_for(kLength);
  const Recording recording = MustStop(**recorder);
  const auto is_over = [](const StackRow& row) {
    return row.row->kind == WaitKind::kOpen && row.user->missing == NoUserStack::kStale;
  };
  const uint64_t all = recording.Sum([&](const StackRow& row) { return !is_over(row); }).ns;
  const uint64_t complete = recording.Sum([](const StackRow& row) { return row.complete(); }).ns;
  const ProfileStats& stats = recording.profile.stats;
  std::printf("%" PRIu64 " intervals, %" PRIu64 " walked at switches, %" PRIu64
              " captures; %.3f %% of the time is complete\n",
              stats.intervals, stats.walked_at_switch, stats.captures,
              100.0 * static_cast<double>(complete) / static_cast<double>(all));
  ASSERT_GE(stats.intervals, 10'000u) << "hardly any load: no test";
  EXPECT_GE(static_cast<double>(complete), 0.995 * static_cast<double>(all)) << recording.LossesText();
  EXPECT_GE(static_cast<double>(stats.walked_at_switch), 0.9 * static_cast<double>(stats.intervals));
  EXPECT_EQ(recording.FindLoss(kDiffers), nullptr) << recording.LossesText();
}

TEST(UserWalk, ServesPostgresUnderLoad) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  ExpectNearlyAllComplete(postgres.load());
}

TEST(UserWalk, ServesRedisUnderLoad) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  if (!IsInstalled("redis-server") || !IsInstalled("redis-benchmark")) GTEST_SKIP() << "redis is not installed";
  const RedisLoad redis;
  ExpectNearlyAllComplete(redis.load());
}

using Counts = std::map<std::string, uint64_t>;

// By user stack, of the waits that the program has asked for: what took its CPU away differs each time, and so does
// how far the kernel had come.
Counts CountSleeps(const Recording& recording) {
  Counts counts;
  const auto waits = [](const StackRow& row) {
    return row.complete() && row.Has("shared_wait") && row.row->kind == WaitKind::kSleeping;
  };
  for (const StackRow& row : recording.Rows(waits)) {
    const std::string text = row.Text();
    counts[text.substr(0, text.find("; -;"))] += row.row->count;
  }
  return counts;
}

TEST(UserWalk, TellsWhatCapturesTell) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  Counts walked;
  Counts captured;
  for (const uint32_t proof_odds : {0u, 1000u}) {
    // So many that what comes before the first look at the process does not matter.
    const std::unique_ptr<Target> target = Target::Start({"two_callers", "--rounds", "6000"});
    ASSERT_NE(target, nullptr);
    const Recording recording = Record(WithOdds({target->pid()}, proof_odds), *target);
    const ProfileStats& stats = recording.profile.stats;
    if (proof_odds == 0) {
      EXPECT_EQ(stats.walked_at_switch, 0u);
      captured = CountSleeps(recording);
    } else {
      EXPECT_GE(stats.walked_at_switch, stats.intervals * 9 / 10);
      EXPECT_LE(stats.captures, stats.intervals / 10);
      walked = CountSleeps(recording);
    }
  }
  EXPECT_EQ(walked.size(), captured.size());
  // A thread that is preempted on its way to sleep, or whose sleep is over by then, does not sleep.
  for (const auto& [stack, count] : captured) {
    EXPECT_NEAR(static_cast<double>(walked[stack]), static_cast<double>(count), 0.01 * static_cast<double>(count))
        << stack;
  }
}

using Sums = std::map<std::string, std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>>;

// By stack: count, blocked, runnable and longest of the waits between the two ends of the ping-pong.
Sums SumsOf(const Recording& recording) {
  Sums sums;
  const auto wanted = [](const StackRow& row) {
    return row.complete() && (row.Has("ping_loop") || row.Has("pong_loop"));
  };
  for (const StackRow& row : recording.Rows(wanted)) {
    const bool is_new = sums.try_emplace(row.Text() + "; " + std::string(Name(row.row->kind)), row.row->count,
                                         row.row->blocked_ns, row.row->runnable_ns, row.row->max_ns)
                            .second;
    EXPECT_TRUE(is_new) << row.Text();
  }
  return sums;
}

// Two recorders of one run read the same times: what the one receives in sums, the other receives wait by wait.
TEST(UserWalk, SumsAreWhatRecordsTell) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  const std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "2", "--frames", "10"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = WithOdds({target->pid(), target->Detail("pong")}, 1000);
  absl::StatusOr<std::unique_ptr<Recorder>> summing = Recorder::Start(config);
  config.sums = false;
  absl::StatusOr<std::unique_ptr<Recorder>> telling = Recorder::Start(config);
  ASSERT_TRUE(summing.ok() && telling.ok());
  target->Go();
  target->AwaitDone();
  const Recording summed = MustStop(**summing);
  const Recording told = MustStop(**telling);
  target->End();
  EXPECT_GE(summed.profile.stats.summed_at_switch, summed.profile.stats.intervals * 9 / 10);
  EXPECT_EQ(told.profile.stats.summed_at_switch, 0u);
  EXPECT_GE(SumsOf(told).size(), 2u);
  EXPECT_EQ(SumsOf(summed), SumsOf(told));
}

// What a name was longer by than the one after it does not stay behind it.
TEST(UserWalk, WaitsAreSummedAlsoUnderAShorterName) {
  if (!CanWalk()) GTEST_SKIP() << "user stacks are not walked on this kernel";
  const std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "3", "--rename", "96000"});
  ASSERT_NE(target, nullptr);
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder =
      Recorder::Start(WithOdds({target->pid(), target->Detail("pong")}, 1000));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  target->Go();
  target->AwaitDone();
  const Recording recording = MustStop(**recorder);
  target->End();
  EXPECT_GE(recording.profile.stats.summed_at_switch, recording.profile.stats.intervals * 9 / 10);
}

}  // namespace
}  // namespace offcpu::integration
