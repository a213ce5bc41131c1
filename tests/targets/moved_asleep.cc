// A thread that is moved to another CPU's queue while it sleeps, again and again.
//
// The sleeper shares a CPU with a hog and takes more of it than its part before it sleeps: Linux 6.12 and later then
// leave it in the CPU's queue for a while. The mover, which runs before all others, gives it another CPU as soon as it
// has left its own, and wakes it kSleepNs later. What it has measured of the sleeper is from after the one to before
// the other: there the sleeper waited for nobody's CPU. Needs two CPUs. Usage: moved_asleep [--rounds N]
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cpus.h"
#include "target.h"

namespace {

constexpr uint64_t kSleepNs = 3'000'000;
// What the sleeper runs for, in turn: how long its turn on the CPU is depends on the kernel and on the other threads.
constexpr uint64_t kBusyNs[] = {1'000'000, 2'500'000};

int pipe_ends[2];
std::atomic<pid_t> sleeper_tid = 0;
std::atomic<uint64_t> sleeps_before = 0;  // how often the sleeper had gone to sleep before
std::atomic<int> round_of_sleep = 0;      // that it is about to sleep in
std::atomic<bool> over = false;

void RunFor(uint64_t ns) {
  const uint64_t begin = target::ClockNs(CLOCK_THREAD_CPUTIME_ID);
  while (target::ClockNs(CLOCK_THREAD_CPUTIME_ID) - begin < ns) {
  }
}

uint64_t OwnSleeps() {
  rusage usage;
  target::Check(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage");
  return static_cast<uint64_t>(usage.ru_nvcsw);
}

// As the kernel counts them.
uint64_t SleepsOfSleeper() {
  std::ifstream file("/proc/self/task/" + std::to_string(sleeper_tid) + "/status");
  for (std::string word; file >> word;) {
    uint64_t count = 0;
    if (word == "voluntary_ctxt_switches:" && file >> count) return count;
  }
  target::Die("no count of switches");
}

}  // namespace

TARGET_FUNCTION void moved_sleep() {
  char byte;
  target::Check(read(pipe_ends[0], &byte, 1) == 1, "read");
  TARGET_AFTER_CALL;
}

namespace {

void Sleep(int rounds, int cpu) {
  pthread_setname_np(pthread_self(), "sleeper");
  sleeper_tid = gettid();
  for (int round = 1; round <= rounds; ++round) {
    target::Pin(0, cpu);
    RunFor(kBusyNs[round % 2]);
    sleeps_before = OwnSleeps();
    round_of_sleep = round;
    moved_sleep();
  }
}

void Hog(int cpu) {
  pthread_setname_np(pthread_self(), "hog");
  target::Pin(0, cpu);
  while (!over) {
  }
}

// Moves the sleeper to `cpu` in each round.
target::Sum Move(int rounds, int cpu) {
  target::Pin(0, cpu);
  const sched_param first = {.sched_priority = 1};
  target::Check(sched_setscheduler(0, SCHED_FIFO, &first) == 0, "sched_setscheduler");
  target::Sum slept;
  for (int round = 1; round <= rounds; ++round) {
    while (round_of_sleep != round) target::SleepNs(20'000);
    while (SleepsOfSleeper() == sleeps_before) {
    }
    target::Pin(sleeper_tid, cpu);
    const uint64_t begin = target::ClockNs(CLOCK_MONOTONIC);
    target::SleepNs(kSleepNs);
    slept.ns += target::ClockNs(CLOCK_MONOTONIC) - begin;
    ++slept.count;
    target::Check(write(pipe_ends[1], "x", 1) == 1, "write");
  }
  return slept;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int> cpus = target::Cpus();
  target::Check(pipe(pipe_ends) == 0, "pipe");
  const int rounds = static_cast<int>(target::Option(argc, argv, "--rounds", 100));
  target::ReadyAndRun("", 0);
  std::thread hog(Hog, cpus.front());
  std::thread sleeper(Sleep, rounds, cpus.front());
  while (sleeper_tid == 0) target::SleepNs(100'000);
  const target::Sum slept = Move(rounds, cpus.back());
  sleeper.join();
  over = true;
  hog.join();
  target::Measured("sleeper", "moved_sleep", slept);
  target::DoneAndStay();
}
