// Waits of known lengths, each below a function of its own: short ones while a partner on the same CPU works for so
// long, long ones by the clock. Lanes are threads that go through all of them, one after the other on each CPU. A lane
// has the name of a function exactly while it waits there.
// Usage: mix [--lanes N] [--count N]     --count: of each of the short waits
//        mix convoy [--count N]          one lane, and waits of 20 us only
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cpus.h"
#include "target.h"

namespace {

// Whose turn it is to run: the lane's or its partner's.
class Turns {
 public:
  void GiveAndAwait(uint32_t to, uint32_t own) {
    Give(to);
    Await(own);
  }
  void Give(uint32_t to) {
    turn_ = to;
    syscall(SYS_futex, &turn_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void Await(uint32_t own) {
    for (uint32_t turn = turn_; turn != own; turn = turn_) {
      syscall(SYS_futex, &turn_, FUTEX_WAIT_PRIVATE, turn, nullptr, nullptr, 0);
    }
  }

 private:
  std::atomic<uint32_t> turn_ = 0;
};

constexpr uint32_t kLane = 1;
constexpr uint32_t kPartner = 2;

struct Lane {
  int cpu = 0;
  uint64_t work_ns = 0;  // of the partner, in each of its turns; 0: it ends
  Turns turns;
};

target::Gate gate;

void WorkFor(uint64_t ns) {
  const uint64_t end = target::ClockNs(CLOCK_MONOTONIC) + ns;
  while (target::ClockNs(CLOCK_MONOTONIC) < end) {
  }
}

int64_t SwitchesAway() {
  rusage usage = {};
  target::Check(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage");
  return usage.ru_nvcsw;
}

// A host that takes the CPU away between the start of the timer and the switch leaves nothing to wait for: then again.
void SleepOffCpu(uint64_t ns) {
  const int64_t before = SwitchesAway();
  while (SwitchesAway() == before) target::SleepNs(ns);
}

void Partner(Lane* lane) {
  target::Pin(0, lane->cpu);
  for (lane->turns.Await(kPartner); lane->work_ns != 0; lane->turns.GiveAndAwait(kLane, kPartner)) {
    WorkFor(lane->work_ns);
  }
}

}  // namespace

#define SHORT_WAIT(name)                       \
  TARGET_FUNCTION void name(Lane* lane) {      \
    lane->turns.GiveAndAwait(kPartner, kLane); \
    TARGET_AFTER_CALL;                         \
  }
#define LONG_WAIT(name, ns)          \
  TARGET_FUNCTION void name(Lane*) { \
    SleepOffCpu(ns);                 \
    TARGET_AFTER_CALL;               \
  }

SHORT_WAIT(wait_5us)
SHORT_WAIT(wait_10us)
SHORT_WAIT(wait_20us)
SHORT_WAIT(wait_30us)
LONG_WAIT(wait_200us, 200'000)
LONG_WAIT(wait_1ms, 1'000'000)
LONG_WAIT(wait_5ms, 5'000'000)

namespace {

struct Length {
  const char* name;
  void (*wait)(Lane*);
  uint64_t work_ns;  // what is missing goes with the switches
  int count;
};

void RunLane(int cpu, const std::vector<Length>& lengths) {
  Lane lane;
  lane.cpu = cpu;
  target::Pin(0, cpu);
  prctl(PR_SET_TIMERSLACK, 1);
  std::thread partner(Partner, &lane);
  for (const Length& length : lengths) {
    lane.work_ns = length.work_ns;
    pthread_setname_np(pthread_self(), length.name);
    for (int i = 0; i < length.count; ++i) length.wait(&lane);
    pthread_setname_np(pthread_self(), "over");
  }
  lane.work_ns = 0;
  lane.turns.Give(kPartner);
  partner.join();
}

}  // namespace

int main(int argc, char** argv) {
  const int count = static_cast<int>(target::Option(argc, argv, "--count", 600));
  std::vector<Length> lengths = {{"wait_5us", wait_5us, 2'000, count},
                                 {"wait_10us", wait_10us, 7'000, count},
                                 {"wait_20us", wait_20us, 17'000, count},
                                 {"wait_30us", wait_30us, 25'000, count},
                                 {"wait_200us", wait_200us, 0, 20},
                                 {"wait_1ms", wait_1ms, 0, 5},
                                 {"wait_5ms", wait_5ms, 0, 2}};
  std::vector<int> cpus = target::Cpus();
  auto lanes = static_cast<size_t>(target::Option(argc, argv, "--lanes", 6));
  if (target::Flag(argc, argv, "convoy")) {
    lengths = {lengths[2]};
    lanes = 1;
  }
  std::vector<std::thread> threads;
  threads.reserve(cpus.size());
  for (size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      gate.Pass();
      for (size_t lane = i; lane < lanes; lane += cpus.size()) std::thread(RunLane, cpus[i], lengths).join();
    });
  }
  target::ReadyAndRun("", 0);
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  target::DoneAndStay();
}
