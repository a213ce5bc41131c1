// Times are right: compared with what the recorded program measures by its own clocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "classify/system_calls.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

void PrintShare(const std::string& what, uint64_t got, uint64_t want) {
  std::printf("%s: %.3f %% of the measured time\n", what.c_str(),
              100.0 * static_cast<double>(got) / static_cast<double>(want));
}

// The stack that most of a thread's intervals below `function` have.
const StackRow* MostCounted(const std::vector<StackRow>& rows) {
  std::map<const NamedUserStack*, uint64_t> counts;
  for (const StackRow& row : rows) counts[row.user] += row.row->count;
  const auto largest = std::max_element(
      rows.begin(), rows.end(), [&](const StackRow& a, const StackRow& b) { return counts[a.user] < counts[b.user]; });
  return largest == rows.end() ? nullptr : &*largest;
}

// One system call that blocks hundreds of times: one cookie, one capture, one walk.
void RecordOneWrite(const std::vector<std::string>& words) {
  const std::unique_ptr<Target> target = Target::Start(words);
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.tids = {target->Detail("tid")};
  const Recording recording = Record(config, *target);
  const ProfileStats& stats = recording.profile.stats;

  const auto below_write = [](const StackRow& row) { return row.Calls({"write_caller", "one_write"}); };
  const std::vector<StackRow> rows = recording.Rows(below_write);
  const StackRow* most = MostCounted(rows);
  ASSERT_NE(most, nullptr) << recording.LossesText();
  EXPECT_TRUE(most->complete()) << most->Text();
  EXPECT_TRUE(most->Has("write") || most->Has("__write")) << most->Text();
  const NamedUserStack* in_write = most->user;
  // An interrupt may take the CPU where the call has just returned: at the same instruction, in another stay. Who gives
  // up the CPU once more on its way out, after the stack was captured, needs another cookie for that.
  const auto in_call = [&](const StackRow& row) {
    return row.user == in_write && SystemCallName(row.row->syscall) == "write";
  };
  const auto on_its_way_out = [](const StackRow& row) { return row.HasInKernel("exit_to_user_mode_loop"); };
  const Measure call = recording.Sum([&](const StackRow& row) { return in_call(row) && !on_its_way_out(row); });
  const Measure late = recording.Sum([&](const StackRow& row) { return in_call(row) && on_its_way_out(row); });

  const uint64_t switches = target->Value("switches");
  const Measure measured = target->Measured("writer", "one_write");
  PrintShare("one write", call.ns + late.ns, measured.ns);
  std::printf(
      "%llu intervals (%llu switches counted by the kernel), %llu cookies, %llu captures, %llu walks, "
      "%llu kernel stacks\n",
      static_cast<unsigned long long>(call.count), static_cast<unsigned long long>(switches),
      static_cast<unsigned long long>(stats.cookies), static_cast<unsigned long long>(stats.captures),
      static_cast<unsigned long long>(stats.walks), static_cast<unsigned long long>(stats.kernel_stacks));
  EXPECT_GE(call.count, 100u);
  EXPECT_LE(call.count, switches);
  // Two are outside of the write, between the two looks at the kernel's count.
  EXPECT_GE(call.count + late.count + 2, switches);
  EXPECT_TRUE(Within(call.ns + late.ns, measured.ns, 0.01, target->stolen_ns()))
      << call.ns + late.ns << " ns, measured " << measured.ns << "\n"
      << recording.LossesText();
  // What the thread did before and after the write may have taken one of each.
  const uint64_t others = stats.intervals - call.count;
  EXPECT_LE(stats.cookies, 1 + others);
  EXPECT_LE(stats.captures, 1 + others);
  EXPECT_LE(stats.walks, 1 + others);
  EXPECT_LE(others * 20, call.count) << "the thread did something else: no test";
  EXPECT_LE(stats.kernel_stacks, recording.profile.kernel_stacks.size()) << "a kernel stack was sent twice";
}

TEST(OneSystemCall, HasOneStackForHundredsOfIntervals) { RecordOneWrite({"pipe_writer"}); }

TEST(OneSystemCall, HasOneStackThoughAnotherThreadChangesIt) { RecordOneWrite({"pipe_writer", "--scribble"}); }

// The server of the file may let the fault wait: the thread must not hang in our capture.
TEST(OneSystemCall, HasNoStackIfThatIsInAFileAndNotResident) {
  const std::unique_ptr<Target> target = Target::Start({"pipe_writer", "--evict"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const Loss* unreadable = recording.FindLoss("no user stack: unreadable");
  ASSERT_NE(unreadable, nullptr) << recording.LossesText();
  EXPECT_GT(unreadable->ns, target->Measured("writer", "one_write").ns / 2) << "its time is kept";
}

TEST(Waits, OfEveryKindAreBelowTheirOwnFunction) {
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "3"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  for (const char* kind : {"nanosleep", "futex", "pipe", "poll", "epoll", "mutex", "condvar", "virtual", "lambda"}) {
    const std::string thread = std::string("w_") + kind;
    const std::string function = std::string("wait_in_") + kind;
    const Measure measured = target->Measured(thread, function);
    const Measure got =
        recording.Sum([&](const StackRow& row) { return row.comm == thread && row.complete() && row.Has(function); });
    PrintShare(thread, got.ns, measured.ns);
    EXPECT_TRUE(Within(got.ns, measured.ns, 0.02, target->stolen_ns()))
        << thread << ": " << got.ns << " ns, measured " << measured.ns << "\n"
        << recording.LossesText();
    EXPECT_EQ(recording.Sum([&](const StackRow& row) { return row.comm != thread && row.Has(function); }).count, 0u);
  }
}

class PingPong : public testing::Test {
 protected:
  void RecordIt(uint32_t interval_ring_bytes) {
    target_ = Target::Start({"pingpong", "--seconds", "3"});
    ASSERT_NE(target_, nullptr);
    RecordConfig config;  // with its budgets: no stacks are asked for here
    config.pids = {target_->pid(), target_->Detail("pong")};
    if (interval_ring_bytes != 0) {
      config.interval_ring_bytes = interval_ring_bytes;
      config.proof_odds = 0;  // no walks at switches, and so no sums, which need hardly any room
    }
    recording_ = Record(config, *target_);
  }

  // Losses of whole intervals, which have taken their time with them.
  Measure Lost() const {
    Measure lost;
    for (const char* reason :
         {"interval ring full", "interval ring busy", "queue full: intervals", "no task storage"}) {
      const Loss* loss = recording_.FindLoss(reason);
      if (loss != nullptr) lost = {lost.ns + loss->ns, lost.count + loss->count};
    }
    return lost;
  }

  std::unique_ptr<Target> target_;
  Recording recording_;
};

TEST_F(PingPong, LosesNothingAndAddsUp) {
  RecordIt(0);
  EXPECT_EQ(Lost().count, 0u) << recording_.LossesText();
  for (const std::string side : {"ping", "pong"}) {
    const Measure measured = target_->Measured(side, side + "_loop");
    const Measure got = recording_.Sum([&](const StackRow& row) { return row.comm == side && !row.Has("pong_start"); });
    PrintShare(side, got.ns, measured.ns);
    // At most all of the time outside of the loop was waited, too.
    const uint64_t around_ns = recording_.profile.duration_ns - target_->Value(side + "_wall_ns");
    const uint64_t wanted_ns = std::max(measured.ns, std::min(got.ns, measured.ns + around_ns));
    EXPECT_TRUE(Within(got.ns, wanted_ns, 0.01, target_->stolen_ns()))
        << side << ": " << got.ns << " ns, measured " << measured.ns << "\n"
        << recording_.LossesText();
    EXPECT_GE(got.count, measured.count);
  }
}

TEST_F(PingPong, AddsUpWithWhatATooSmallRingLoses) {
  RecordIt(4 * 4096);
  EXPECT_GT(Lost().count, 0u) << "the ring was large enough: no test";
  const uint64_t measured = target_->Measured("ping", "ping_loop").ns + target_->Measured("pong", "pong_loop").ns;
  const Measure got = recording_.Sum([](const StackRow& row) { return !row.Has("pong_start"); });
  PrintShare("kept", got.ns, measured);
  const uint64_t all_ns = got.ns + Lost().ns;
  PrintShare("kept and lost", all_ns, measured);
  // At most all of the time outside of the loops was waited, too.
  const uint64_t around_ns =
      2 * recording_.profile.duration_ns - target_->Value("ping_wall_ns") - target_->Value("pong_wall_ns");
  const uint64_t wanted_ns = std::max(measured, std::min(all_ns, measured + around_ns));
  EXPECT_TRUE(Within(all_ns, wanted_ns, 0.01, target_->stolen_ns()))
      << got.ns << " + " << Lost().ns << " ns, measured " << measured << "\n"
      << recording_.LossesText();
}

}  // namespace
}  // namespace offcpu::integration
