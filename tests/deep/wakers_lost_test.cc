// Chains of wakers that are cut, and wakers that are not known: where there is no memory to store who woke whom. What
// is counted of them is what the records say, and nobody is named in the place of another.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/deep/memory_cgroup.h"
#include "tests/deep/undrained.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

// Keeps this thread, and those that it makes, on the first CPU.
class OnFirstCpu {
 public:
  OnFirstCpu() {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    EXPECT_EQ(sched_getaffinity(0, sizeof(before_), &before_), 0);
    EXPECT_EQ(sched_setaffinity(0, sizeof(first), &first), 0);
  }
  ~OnFirstCpu() { sched_setaffinity(0, sizeof(before_), &before_); }
  OnFirstCpu(const OnFirstCpu&) = delete;
  OnFirstCpu& operator=(const OnFirstCpu&) = delete;

 private:
  cpu_set_t before_;
};

// Threads of this process, which do nothing. They wake others as anybody does and are not recorded, so that only what
// is stored of wakes is stored of them.
class Crowd {
 public:
  explicit Crowd(size_t count) {
    const std::shared_future<void> open = gate_.get_future().share();
    for (size_t i = 0; i < count; ++i) threads_.emplace_back([open] { open.wait(); });
  }
  ~Crowd() {
    gate_.set_value();
    for (std::thread& thread : threads_) thread.join();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::promise<void> gate_;
  std::vector<std::thread> threads_;
};

// Threads that are made after the recording began. There may be no memory then to store who wakes them: what CPUs have
// set aside is enough for fewer of them, and what is charged to a cgroup that is full is refused.
class WakersOfLatecomers : public testing::Test {
 protected:
  void SetUp() override {
    cgroup_ = MemoryCgroup::Create();
    if (cgroup_ == nullptr) GTEST_SKIP() << "no cgroup hierarchy with the memory controller is mounted";
  }

  // Threads of that name; `prepare` when the programs are loaded.
  void RecordThem(const std::string& comm, const std::function<void()>& prepare) {
    const OnFirstCpu here;  // as they: each CPU sets aside for itself
    const std::unique_ptr<Target> target = Target::Start({"latecomers", "--threads", "600", "--turns", "600"});
    ASSERT_NE(target, nullptr);
    RecordConfig config = Unthrottled({target->pid()});
    config.comms = {comm};
    config.wakers = true;
    const auto load = [&] {
      cgroup_->Enter();
      absl::StatusOr<std::unique_ptr<Programs>> programs = LoadFor(config);
      cgroup_->Leave();
      prepare();
      return programs;
    };
    recording_ = RecordUndrained(load, *target);
    ASSERT_TRUE(recording_.ok);
    turns_ = target->Value("turns");
  }

  // A latecomer was woken before it ended one of these waits, and after the wait had begun: who woke it is in the
  // chain.
  void CountChains() {
    for (const IntervalEvent& interval : recording_.intervals) {
      const std::vector<WakerEvent>& wakers = interval.wakers;
      if (wakers.empty() || wakers[0].interrupt || wakers[0].comm != "latecomer") continue;
      EXPECT_EQ(interval.kind, WaitKind::kSleeping);
      ++(wakers.size() == 1 ? cut_ : whole_);
      if (wakers.size() == 1) continue;
      EXPECT_FALSE(wakers[1].interrupt);
      EXPECT_EQ(wakers[1].comm, "latecomers");
    }
    std::printf("%llu waits: %llu chains whole, %llu cut, %llu counted\n", (unsigned long long)turns_,
                (unsigned long long)whole_, (unsigned long long)cut_,
                (unsigned long long)recording_.counter(WIRE_COUNT_WAKER_CUT).count);
    EXPECT_LE(whole_ + cut_, turns_);
    EXPECT_GE(whole_ + cut_ + turns_ / 100, turns_);  // one that is met on its way to sleep is not woken
    // All of these are counted, and those of the rest of the host.
    EXPECT_GE(recording_.counter(WIRE_COUNT_WAKER_CUT).count + turns_ / 100, cut_);
  }

  std::unique_ptr<MemoryCgroup> cgroup_;
  Undrained recording_;
  uint64_t turns_ = 0;
  uint64_t whole_ = 0;
  uint64_t cut_ = 0;
};

TEST_F(WakersOfLatecomers, AreShownInAChain) {
  RecordThem("first_comer", [] {});
  CountChains();
  EXPECT_GT(whole_, turns_ / 2);  // where many threads are made at once, the kernel may be late to set memory aside
}

TEST_F(WakersOfLatecomers, AreShownAloneWhereAChainIsCutAndThatIsCounted) {
  RecordThem("first_comer", [this] { cgroup_->KeepFull(); });
  CountChains();
  EXPECT_GT(cut_, turns_ / 10) << "there was memory for most of them: no test";
  EXPECT_GT(recording_.counter(WIRE_COUNT_WAKER_CUT).count, 0u);
}

// For a latecomer that is recorded there is room for what its waits need, and none for its wakes. What is stored first
// for a thread takes more, whichever program stores it: other programs do that here.
TEST_F(WakersOfLatecomers, AreCountedWhereTheyAreNotKnown) {
  const absl::StatusOr<std::unique_ptr<Programs>> first = LoadFor({});
  ASSERT_TRUE(first.ok()) << first.status();
  std::optional<Crowd> crowd;
  RecordThem("latecomer", [&] {
    cgroup_->KeepFull();
    crowd.emplace(600);
  });
  wire_counter unknown = {};
  uint64_t turns = 0;
  for (const IntervalEvent& interval : recording_.intervals) {
    if (interval.kind == WaitKind::kPreempted || interval.kind == WaitKind::kYielded) continue;
    if (interval.blocked_ns == 0) continue;  // nobody has to end that
    turns += interval.syscall == SYS_futex ? 1 : 0;
    if (!interval.wakers.empty()) continue;
    ++unknown.count;
    unknown.ns += interval.blocked_ns + interval.runnable_ns;
  }
  const uint64_t others = recording_.counter(WIRE_COUNT_NO_STORAGE).count +
                          recording_.counter(WIRE_COUNT_JOINED_AWAY).count;  // there was no room for their waits either
  const wire_counter& counted = recording_.counter(WIRE_COUNT_WAKER_UNKNOWN);
  std::printf("%llu waits: %llu recorded, %llu of them without a waker; %llu not recorded\n",
              (unsigned long long)turns_, (unsigned long long)turns, (unsigned long long)counted.count,
              (unsigned long long)others);
  EXPECT_GT(counted.count, 0u) << "there was memory for all of them: no test";
  EXPECT_EQ(counted.count, unknown.count);
  EXPECT_EQ(counted.ns, unknown.ns);
  EXPECT_LE(turns, turns_);
  EXPECT_GE(turns + others + turns_ / 100, turns_);
}

}  // namespace
}  // namespace offcpu::integration
