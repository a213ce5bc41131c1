// Threads that are made after the run has begun, all of which are there before the first of them does anything. The
// last of them then take their turns, on one CPU: each is woken by the main thread, runs for a while and wakes
// `first_comer`, a thread that was there before and has been asleep since before that.
// Usage: latecomers [--threads N] [--turns N: at most as many] [--spin-us N]
#include <semaphore.h>
#include <sys/syscall.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cpus.h"
#include "target.h"

namespace {

target::Gate gate;
uint64_t spin_ns = 0;
sem_t for_first_comer;
sem_t for_main;
std::atomic<pid_t> first_comer = 0;
std::atomic<bool> over = false;

struct Latecomer {
  sem_t turn;
  std::atomic<pid_t> tid = 0;  // set when it has nothing more to do than to wait
  std::thread thread;
};

void Wait(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) {
  }
}

char StateOf(pid_t tid) {
  FILE* file = fopen(("/proc/self/task/" + std::to_string(tid) + "/stat").c_str(), "re");
  char state = '?';
  target::Check(file != nullptr && fscanf(file, "%*d (%*[^)]) %c", &state) == 1, "stat");
  fclose(file);
  return state;
}

}  // namespace

TARGET_FUNCTION void wait_for_latecomer() {
  Wait(&for_first_comer);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void wait_for_turn(sem_t* turn) {
  Wait(turn);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void give_turn(sem_t* turn) {
  sem_post(turn);
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void latecomer_spin() {
  const uint64_t end = target::ClockNs(CLOCK_THREAD_CPUTIME_ID) + spin_ns;
  while (target::ClockNs(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}
TARGET_FUNCTION void wake_first_comer() {
  sem_post(&for_first_comer);
  TARGET_AFTER_CALL;
}

namespace {

void RunFirstComer() {
  pthread_setname_np(pthread_self(), "first_comer");
  first_comer = static_cast<pid_t>(syscall(SYS_gettid));
  gate.Pass();
  while (true) {
    wait_for_latecomer();
    if (over) return;
    sem_post(&for_main);
  }
}

void RunLatecomer(Latecomer* self) {
  pthread_setname_np(pthread_self(), "latecomer");
  self->tid = static_cast<pid_t>(syscall(SYS_gettid));
  wait_for_turn(&self->turn);
  if (over) return;
  latecomer_spin();
  wake_first_comer();
}

// A thread that another one sees asleep from the same CPU has left it. (Or a kernel that can be preempted anywhere has
// preempted it on its way to sleep: once in many thousand times.)
void AwaitSleep(const std::atomic<pid_t>& tid) {
  while (tid == 0 || StateOf(tid) != 'S') target::SleepNs(20'000);
}

}  // namespace

int main(int argc, char** argv) {
  target::Pin(0, 0);
  spin_ns = static_cast<uint64_t>(target::Option(argc, argv, "--spin-us", 0) * 1e3);
  const auto threads = static_cast<size_t>(target::Option(argc, argv, "--threads", 1000));
  const auto turns = static_cast<size_t>(target::Option(argc, argv, "--turns", 100));
  sem_init(&for_first_comer, 0, 0);
  sem_init(&for_main, 0, 0);
  std::thread first(RunFirstComer);
  AwaitSleep(first_comer);
  target::ReadyAndRun("", 0);
  gate.Open();
  std::vector<Latecomer> latecomers(threads);
  for (Latecomer& latecomer : latecomers) {
    sem_init(&latecomer.turn, 0, 0);
    latecomer.thread = std::thread(RunLatecomer, &latecomer);
  }
  for (const Latecomer& latecomer : latecomers) AwaitSleep(latecomer.tid);
  for (size_t i = threads - turns; i < threads; ++i) {
    AwaitSleep(first_comer);
    give_turn(&latecomers[i].turn);
    Wait(&for_main);
  }
  over = true;
  sem_post(&for_first_comer);
  first.join();
  for (Latecomer& latecomer : latecomers) {
    sem_post(&latecomer.turn);
    latecomer.thread.join();
  }
  target::Value("turns", turns);
  target::DoneAndStay();
}
