// What the programs that the tests record have in common: the talk with the test, and their own measure of their waits.
//
// A target prints `ready pid=N ...`, waits for a byte or the end of its standard input, runs for its time, prints
// `measured THREAD LABEL NS COUNT` and `value NAME N` lines and then `done`, and stays until its standard input ends.
// So a recording that starts at `ready` and stops at `done` holds every measured wait from its beginning to its end.
// Started by hand with </dev/null, a target waits for nobody. SIGTERM ends the run early.
#ifndef OFFCPU_TESTS_TARGETS_TARGET_H_
#define OFFCPU_TESTS_TARGETS_TARGET_H_

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A function that keeps its name, its frame and its place between its callers and callees.
#ifdef __clang__
#define TARGET_FUNCTION extern "C" __attribute__((noinline, used))
#else
#define TARGET_FUNCTION extern "C" __attribute__((noipa, used))
#endif
// After a call: keeps it from becoming a jump.
#define TARGET_AFTER_CALL asm volatile("" ::: "memory")

namespace target {

inline uint64_t ClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

struct Sum {
  uint64_t ns = 0;
  uint64_t count = 0;
};

// Adds what this thread spends off the CPU, from construction to destruction, to a sum that only it changes.
class OffCpuTimer {
 public:
  explicit OffCpuTimer(Sum& sum) : sum_(sum), wall_(ClockNs(CLOCK_MONOTONIC)), cpu_(ClockNs(CLOCK_THREAD_CPUTIME_ID)) {}
  OffCpuTimer(const OffCpuTimer&) = delete;
  OffCpuTimer& operator=(const OffCpuTimer&) = delete;
  ~OffCpuTimer() {
    const uint64_t cpu = ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_;
    const uint64_t wall = ClockNs(CLOCK_MONOTONIC) - wall_;
    sum_.ns += wall > cpu ? wall - cpu : 0;
    ++sum_.count;
  }

 private:
  Sum& sum_;
  uint64_t wall_;
  uint64_t cpu_;
};

inline volatile sig_atomic_t terminated = 0;
inline uint64_t deadline_ns = UINT64_MAX;

inline bool Over() { return terminated != 0 || ClockNs(CLOCK_MONOTONIC) >= deadline_ns; }

inline void SleepNs(uint64_t ns) {
  const timespec time = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  nanosleep(&time, nullptr);
}

[[noreturn]] inline void Die(const char* what) {
  perror(what);
  exit(1);
}

inline void Check(bool ok, const char* what) {
  if (!ok) Die(what);
}

__attribute__((format(printf, 1, 2))) inline void Say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  fflush(stdout);
}

inline void Measured(const char* thread, const char* label, const Sum& sum) {
  Say("measured %s %s %llu %llu\n", thread, label, static_cast<unsigned long long>(sum.ns),
      static_cast<unsigned long long>(sum.count));
}

inline void Value(const char* name, uint64_t value) {
  Say("value %s %llu\n", name, static_cast<unsigned long long>(value));
}

// Says that everything is in place, waits for the test's leave and starts the clock. `details` is a list of name=value.
inline void ReadyAndRun(const char* details, double seconds) {
  struct sigaction action = {};
  action.sa_handler = [](int) { terminated = 1; };
  sigaction(SIGTERM, &action, nullptr);
  Say("ready pid=%d %s\n", getpid(), details);
  char byte;
  [[maybe_unused]] const ssize_t leave = read(STDIN_FILENO, &byte, 1);
  deadline_ns = ClockNs(CLOCK_MONOTONIC) + static_cast<uint64_t>(seconds * 1e9);
}

// After the last measure: stays until the test has seen what it wants of the living process.
inline void DoneAndStay() {
  Say("done\n");
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

// The value after `name` in the command line, or `otherwise`.
inline double Option(int argc, char** argv, const char* name, double otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return atof(argv[i + 1]);
  }
  return otherwise;
}

inline bool Flag(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return true;
  }
  return false;
}

// Where threads stand until the run begins; none of their measured waits is under way before.
class Gate {
 public:
  void Open() {
    pthread_mutex_lock(&mutex_);
    open_ = true;
    pthread_cond_broadcast(&opened_);
    pthread_mutex_unlock(&mutex_);
  }
  void Pass() {
    pthread_mutex_lock(&mutex_);
    while (!open_) pthread_cond_wait(&opened_, &mutex_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t opened_ = PTHREAD_COND_INITIALIZER;
  bool open_ = false;
};

}  // namespace target

#endif  // OFFCPU_TESTS_TARGETS_TARGET_H_
