// A thread that has been woken and does not get its CPU, because what hogs that has a higher real-time priority.
//
// Says `ready` when the victim has been woken, or, with --asleep, while it sleeps: then it is woken when the run
// begins, and has to wait for 200 ms. The run gives it the CPU. It sleeps for 200 ms, is woken, and waits for the CPU
// once more: `done`. Usage: queued [--asleep]
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "cpus.h"
#include "target.h"

namespace {

constexpr uint64_t kSleepNs = 200'000'000;

std::atomic<bool> hogging = false;
std::atomic<bool> hog_on_cpu = false;
std::atomic<bool> over = false;
std::atomic<uint32_t> wakes = 0;  // that the victim has been given
std::atomic<uint64_t> ran_ns = 0;
std::atomic<uint64_t> ran_cpu_ns = 0;  // of the victim, on its way to sleep and until ran_ns
std::atomic<pid_t> victim_tid = 0;

void TakeCpu(const char* name, int priority) {
  pthread_setname_np(pthread_self(), name);
  target::Pin(0, target::Cpus().back());
  const sched_param parameters = {.sched_priority = priority};
  target::Check(sched_setscheduler(0, SCHED_FIFO, &parameters) == 0, "sched_setscheduler");
}

// The letter of /proc: R also while a thread waits for a CPU.
char StateOf(pid_t tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t end_of_name = text.rfind(") ");
  return end_of_name == std::string::npos ? '?' : text[end_of_name + 2];
}

void AwaitState(char state) {
  while (victim_tid == 0 || StateOf(victim_tid) != state) target::SleepNs(1'000'000);
}

void Hog() {
  TakeCpu("hog", 20);
  while (!over) {
    hog_on_cpu = hogging.load();
    if (!hogging) target::SleepNs(1'000'000);
  }
}

void SetHogging(bool wanted) {
  hogging = wanted;
  while (hog_on_cpu != wanted) target::SleepNs(1'000'000);
}

}  // namespace

TARGET_FUNCTION void victim_wait(uint32_t seen) {
  while (wakes == seen) syscall(SYS_futex, &wakes, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

namespace {

void Suffer() {
  TakeCpu("victim", 10);
  victim_tid = gettid();
  const uint64_t cpu_ns = target::ClockNs(CLOCK_THREAD_CPUTIME_ID);
  victim_wait(0);
  const uint64_t now_ns = target::ClockNs(CLOCK_MONOTONIC);
  ran_cpu_ns = target::ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
  ran_ns = now_ns;
  victim_wait(1);
}

// Returns with the victim woken, and no nearer to the CPU. When that was lies between two values.
void WakeBehindHog(const std::string& which) {
  SetHogging(true);
  const uint64_t before_ns = target::ClockNs(CLOCK_MONOTONIC);
  ++wakes;
  syscall(SYS_futex, &wakes, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  const uint64_t after_ns = target::ClockNs(CLOCK_MONOTONIC);
  AwaitState('R');
  target::Value((which + "_woken_after_ns").c_str(), before_ns);
  target::Value((which + "_woken_before_ns").c_str(), after_ns);
}

}  // namespace

int main(int argc, char** argv) {
  const bool asleep = target::Flag(argc, argv, "--asleep");
  std::thread hog(Hog);
  std::thread victim(Suffer);
  AwaitState('S');
  if (!asleep) WakeBehindHog("first");
  target::ReadyAndRun("", 1);
  if (asleep) {
    WakeBehindHog("first");
    target::SleepNs(kSleepNs);
  }
  SetHogging(false);
  while (ran_ns == 0) target::SleepNs(1'000'000);
  target::Value("ran_ns", ran_ns);
  target::Value("ran_cpu_ns", ran_cpu_ns);
  AwaitState('S');
  target::SleepNs(kSleepNs);
  WakeBehindHog("second");
  target::DoneAndStay();
  over = true;
  hog.join();
  victim.join();
}
