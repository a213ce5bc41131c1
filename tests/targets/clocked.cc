// Eleven threads that wait for 2 to 20 ms at a time, each below a function of its own, and clock each of their waits.
// One forks 100 times a second, and one waits in a handler of a signal, on another stack.
// Usage: clocked [--seconds S] [--only THREAD] [--log]
// With --log it prints each wait, too: `wait THREAD BEGIN_NS END_NS CPU_NS`, by CLOCK_MONOTONIC. So it is known what a
// recording has that begins and ends during the run.
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "target.h"

// A wait: what is between the two moments beside the CPU time is time off the CPU.
struct Wait {
  uint64_t begin_ns;
  uint64_t end_ns;
  uint64_t cpu_ns;
};

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kForkPeriodNs = 10 * kMs;

// From construction to Stop(). The clock of the CPU is read within the other one: what comes in between the readings is
// then taken for a wait, as it is if the CPU is taken away there.
class Stopwatch {
 public:
  Stopwatch() : begin_ns_(target::ClockNs(CLOCK_MONOTONIC)), cpu_ns_(target::ClockNs(CLOCK_THREAD_CPUTIME_ID)) {}
  Wait Stop() const {
    const uint64_t cpu_ns = target::ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns_;
    return {begin_ns_, target::ClockNs(CLOCK_MONOTONIC), cpu_ns};
  }

 private:
  uint64_t begin_ns_;
  uint64_t cpu_ns_;
};

timespec In(clockid_t clock, uint64_t ns) {
  const uint64_t at_ns = target::ClockNs(clock) + ns;
  return {static_cast<time_t>(at_ns / 1'000'000'000), static_cast<long>(at_ns % 1'000'000'000)};
}

int epoll_set = -1;
uint64_t next_fork_ns = 0;
uint64_t forks = 0;
Wait in_handler;

}  // namespace

TARGET_FUNCTION Wait clocked_nanosleep() {
  const Stopwatch watch;
  target::SleepNs(2 * kMs);
  return watch.Stop();
}

TARGET_FUNCTION Wait clocked_futex() {
  static uint32_t word = 0;
  const Stopwatch watch;
  const timespec timeout = {0, 3 * kMs};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout, nullptr, 0);
  return watch.Stop();
}

TARGET_FUNCTION Wait clocked_poll() {
  const Stopwatch watch;
  poll(nullptr, 0, 4);
  return watch.Stop();
}

TARGET_FUNCTION Wait clocked_epoll() {
  const Stopwatch watch;
  epoll_event event;
  epoll_wait(epoll_set, &event, 1, 5);
  return watch.Stop();
}

TARGET_FUNCTION Wait clocked_select() {
  const Stopwatch watch;
  timeval timeout = {0, 6000};
  select(0, nullptr, nullptr, nullptr, &timeout);
  return watch.Stop();
}

// No signal comes that it waits for.
TARGET_FUNCTION Wait clocked_sigwait() {
  const Stopwatch watch;
  sigset_t none;
  sigemptyset(&none);
  const timespec timeout = {0, 8 * kMs};
  sigtimedwait(&none, nullptr, &timeout);
  return watch.Stop();
}

TARGET_FUNCTION Wait clocked_condvar() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;
  const Stopwatch watch;
  const timespec until = In(CLOCK_REALTIME, 10 * kMs);
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(&condvar, &mutex, &until);
  pthread_mutex_unlock(&mutex);
  return watch.Stop();
}

TARGET_FUNCTION Wait clocked_semaphore() {
  static sem_t semaphore;  // all zeros: as sem_init makes it
  const Stopwatch watch;
  const timespec until = In(CLOCK_REALTIME, 12 * kMs);
  sem_timedwait(&semaphore, &until);
  return watch.Stop();
}

// Until a moment, not for a time.
TARGET_FUNCTION Wait clocked_until() {
  const Stopwatch watch;
  const timespec until = In(CLOCK_MONOTONIC, 15 * kMs);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  return watch.Stop();
}

// Sleeps until the next child is due, makes it and waits for its end.
TARGET_FUNCTION Wait clocked_fork() {
  const Stopwatch watch;
  const uint64_t now_ns = target::ClockNs(CLOCK_MONOTONIC);
  next_fork_ns = std::max(next_fork_ns + kForkPeriodNs, now_ns);
  target::SleepNs(next_fork_ns - now_ns);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  target::Check(child > 0 && waitpid(child, nullptr, 0) == child, "fork");
  ++forks;
  return watch.Stop();
}

TARGET_FUNCTION void clocked_handler(int) {
  const Stopwatch watch;
  target::SleepNs(20 * kMs);
  in_handler = watch.Stop();
}

TARGET_FUNCTION Wait clocked_raise() {
  pthread_kill(pthread_self(), SIGUSR1);
  return in_handler;
}

namespace {

struct Clocked {
  const char* thread;
  const char* function;  // in which it waits
  uint64_t wait_ms;
  Wait (*wait)();
  target::Sum sum;
  std::vector<Wait> log;
};

bool keeps_log = false;
target::Gate gate;

// Null: all of them.
const char* OnlyThread(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], "--only") == 0) return argv[i + 1];
  }
  return nullptr;
}

void Run(Clocked* clocked) {
  pthread_setname_np(pthread_self(), clocked->thread);
  gate.Pass();
  while (!target::Over()) {
    const Wait wait = clocked->wait();
    const uint64_t wall_ns = wait.end_ns - wait.begin_ns;
    clocked->sum.ns += wall_ns > wait.cpu_ns ? wall_ns - wait.cpu_ns : 0;
    ++clocked->sum.count;
    if (keeps_log) clocked->log.push_back(wait);
  }
}

void RunWithHandler(Clocked* clocked) {
  static char memory[64 * 1024];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof(memory);
  target::Check(sigaltstack(&stack, nullptr) == 0, "sigaltstack");
  struct sigaction action = {};
  action.sa_handler = clocked_handler;
  action.sa_flags = SA_ONSTACK;
  target::Check(sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
  Run(clocked);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = target::Option(argc, argv, "--seconds", 5);
  keeps_log = target::Flag(argc, argv, "--log");
  epoll_set = epoll_create1(EPOLL_CLOEXEC);
  target::Check(epoll_set >= 0, "epoll_create1");
  Clocked all[] = {
      {"c_nanosleep", "clocked_nanosleep", 2, clocked_nanosleep, {}, {}},
      {"c_futex", "clocked_futex", 3, clocked_futex, {}, {}},
      {"c_poll", "clocked_poll", 4, clocked_poll, {}, {}},
      {"c_epoll", "clocked_epoll", 5, clocked_epoll, {}, {}},
      {"c_select", "clocked_select", 6, clocked_select, {}, {}},
      {"c_sigwait", "clocked_sigwait", 8, clocked_sigwait, {}, {}},
      {"c_condvar", "clocked_condvar", 10, clocked_condvar, {}, {}},
      {"c_semaphore", "clocked_semaphore", 12, clocked_semaphore, {}, {}},
      {"c_until", "clocked_until", 15, clocked_until, {}, {}},
      {"c_fork", "clocked_fork", 10, clocked_fork, {}, {}},
      {"c_handler", "clocked_handler", 20, clocked_raise, {}, {}},
  };
  const char* only = OnlyThread(argc, argv);
  std::vector<std::thread> threads;
  for (Clocked& clocked : all) {
    if (only != nullptr && strcmp(only, clocked.thread) != 0) continue;
    // To grow a log would take its time between two waits.
    if (keeps_log) clocked.log.reserve(static_cast<size_t>(1000 * seconds) / clocked.wait_ms + 1);
    threads.emplace_back(clocked.wait == clocked_raise ? RunWithHandler : Run, &clocked);
  }
  target::ReadyAndRun("", seconds);
  gate.Open();
  for (std::thread& thread : threads) thread.join();

  for (const Clocked& clocked : all) {
    target::Measured(clocked.thread, clocked.function, clocked.sum);
    for (const Wait& wait : clocked.log) {
      printf("wait %s %llu %llu %llu\n", clocked.thread, static_cast<unsigned long long>(wait.begin_ns),
             static_cast<unsigned long long>(wait.end_ns), static_cast<unsigned long long>(wait.cpu_ns));
    }
  }
  target::Value("forks", forks);
  target::DoneAndStay();
}
