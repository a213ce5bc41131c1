// Ways to leave the CPU and to come back, each with an exact account of its own. A thread has the name that the test
// asks for while it is measured.
// Usage: states hogs|yield|migrant|pids|exec|exit|kill|zombie|crowd [--seconds S] [--rounds N]
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cpus.h"
#include "fork_as.h"
#include "target.h"

namespace {

constexpr int kBlockedThreads = 3;
constexpr int kMaxRounds = 100;
constexpr int kTogether = 100;             // members of a crowd that live at one time
constexpr uint64_t kLifeNs = 100'000'000;  // of a thread that ends while it is blocked

// What a thread waits while it has a name: at least `inner`, and at most `outer`, which holds the naming, too.
struct Span {
  target::Sum inner;
  target::Sum outer;
};

// In memory that children share.
struct Shared {
  std::atomic<uint64_t> began_ns[kBlockedThreads];
  std::atomic<uint64_t> ended_ns;
  Span waits[kMaxRounds];
};

Shared* shared = nullptr;
target::Gate gate;
double seconds = 2;
int rounds = 10;

void MapShared() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  target::Check(memory != MAP_FAILED, "mmap");
  shared = static_cast<Shared*>(memory);
}

uint64_t Now() { return target::ClockNs(CLOCK_MONOTONIC); }

// The calling thread has a name for as long as this lives.
class Named {
 public:
  explicit Named(const char* name) { pthread_setname_np(pthread_self(), name); }
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
  ~Named() { pthread_setname_np(pthread_self(), "over"); }
};

// The calling thread is measured for as long as this lives: its name is the sign for it. It may lose its CPU on either
// side of the moment in which it gets the name, so it is measured from both.
class Phase {
 public:
  Phase(const char* name, Span& span) : outer_(span.outer), named_(name), inner_(span.inner) {}

 private:
  const target::OffCpuTimer outer_;
  const Named named_;
  const target::OffCpuTimer inner_;
};

// As the lines `measured THREAD inner` and `measured THREAD outer`.
void Measured(const char* thread, const Span& span) {
  target::Measured(thread, "inner", span.inner);
  target::Measured(thread, "outer", span.outer);
}

void SetNice(int nice) { target::Check(setpriority(PRIO_PROCESS, 0, nice) == 0, "setpriority"); }

// What the kernel counts of the calling thread's waiting for a CPU.
uint64_t OwnRunDelayNs() {
  FILE* file = fopen("/proc/thread-self/schedstat", "re");
  target::Check(file != nullptr, "schedstat");
  unsigned long long cpu_ns;
  unsigned long long run_delay_ns;
  target::Check(fscanf(file, "%llu %llu", &cpu_ns, &run_delay_ns) == 2, "schedstat");
  fclose(file);
  return run_delay_ns;
}

// What the calling thread waits for a CPU for as long as this lives.
class RunDelayTimer {
 public:
  explicit RunDelayTimer(target::Sum& sum) : sum_(sum), before_ns_(OwnRunDelayNs()) {}
  RunDelayTimer(const RunDelayTimer&) = delete;
  RunDelayTimer& operator=(const RunDelayTimer&) = delete;
  ~RunDelayTimer() {
    sum_.ns += OwnRunDelayNs() - before_ns_;
    ++sum_.count;
  }

 private:
  target::Sum& sum_;
  const uint64_t before_ns_;
};

void FutexWait(std::atomic<uint32_t>* word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void FutexWake(std::atomic<uint32_t>* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0); }

}  // namespace

// Measured here, so that whatever it waits for meanwhile has this function in its stack.
TARGET_FUNCTION void hog_loop(target::Sum* run_delay) {
  const RunDelayTimer timer(*run_delay);
  while (!target::Over()) {
  }
}

TARGET_FUNCTION void yield_once(target::Sum* sum) {
  const target::OffCpuTimer timer(*sum);
  sched_yield();
}

TARGET_FUNCTION void first_life_wait(Span* span) {
  const Phase phase("first_life", *span);
  target::SleepNs(20'000'000);
}

TARGET_FUNCTION void second_life_wait(Span* span) {
  const Phase phase("second_life", *span);
  target::SleepNs(30'000'000);
}

TARGET_FUNCTION void longest_wait(std::atomic<uint32_t>* ended, target::Sum* sum) {
  const target::OffCpuTimer timer(*sum);
  while (*ended == 0) FutexWait(ended, 0);
}

TARGET_FUNCTION void doomed_wait(std::atomic<uint64_t>* began_ns) {
  static std::atomic<uint32_t> never = 0;
  pthread_setname_np(pthread_self(), "doomed");
  *began_ns = Now();
  while (true) FutexWait(&never, 0);
}

namespace {

// Two threads that want one CPU for themselves all the time, and hardly anybody else gets it.
void RunHogs() {
  const int cpu = target::Cpus().back();
  const char* names[] = {"hog_a", "hog_b"};
  Span run_delays[2];
  std::vector<std::thread> threads;
  threads.reserve(2);
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      target::Pin(0, cpu);
      SetNice(-20);
      gate.Pass();
      const RunDelayTimer outer(run_delays[i].outer);
      const Named named(names[i]);
      hog_loop(&run_delays[i].inner);
    });
  }
  target::ReadyAndRun("", seconds);
  const uint64_t began_ns = Now();
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  target::Value("wall_ns", Now() - began_ns);
  Measured("hog_a_run_delay", run_delays[0]);
  Measured("hog_b_run_delay", run_delays[1]);
  target::DoneAndStay();
}

// One that gives its CPU away, and one that takes it.
void RunYield() {
  const int cpu = target::Cpus().back();
  target::Sum yields;
  Span all;
  std::thread taker([&] {
    target::Pin(0, cpu);
    gate.Pass();
    target::Sum not_asked_for;
    hog_loop(&not_asked_for);
  });
  std::thread yielder([&] {
    target::Pin(0, cpu);
    gate.Pass();
    const Phase phase("yielder", all);
    while (!target::Over()) yield_once(&yields);
  });
  target::ReadyAndRun("", seconds);
  gate.Open();
  taker.join();
  yielder.join();
  target::Measured("yielder", "yield_once", yields);
  Measured("yielder", all);
  target::DoneAndStay();
}

struct Migrant {
  std::atomic<pid_t> tid = 0;
  std::atomic<uint32_t> turn = 0;
  std::atomic<bool> over = false;
  Span span;
  Span run_delay;
  uint64_t migrations = 0;
};

void WaitAndMove(Migrant* migrant) {
  migrant->tid = gettid();
  SetNice(10);  // so that it has to wait for the CPUs too, which are busy
  gate.Pass();
  const RunDelayTimer outer(migrant->run_delay.outer);
  const Phase phase("migrant", migrant->span);
  const RunDelayTimer inner(migrant->run_delay.inner);
  int cpu = sched_getcpu();
  for (uint32_t turn = 0; !migrant->over; turn = migrant->turn) {
    FutexWait(&migrant->turn, turn);
    const int was = cpu;
    cpu = sched_getcpu();
    migrant->migrations += cpu != was;
  }
}

// A thread whose CPU is taken away while it is blocked, and which is woken from that CPU.
void RunMigrant() {
  const std::vector<int> cpus = {target::Cpus().front(), target::Cpus().back()};
  Migrant migrant;
  std::vector<std::thread> threads;
  threads.reserve(cpus.size() + 1);
  for (const int cpu : cpus) {
    threads.emplace_back([cpu] {
      target::Pin(0, cpu);
      gate.Pass();
      target::Sum not_asked_for;
      hog_loop(&not_asked_for);
    });
  }
  threads.emplace_back(WaitAndMove, &migrant);
  while (migrant.tid == 0) sched_yield();
  target::ReadyAndRun("", seconds);
  gate.Open();
  while (!target::Over()) {
    const uint32_t turn = migrant.turn;
    target::Pin(migrant.tid, cpus[(turn + 1) % 2]);
    target::Pin(0, cpus[turn % 2]);
    target::SleepNs(1'000'000);
    ++migrant.turn;
    FutexWake(&migrant.turn);
    target::SleepNs(1'000'000);
  }
  migrant.over = true;
  ++migrant.turn;
  FutexWake(&migrant.turn);
  for (std::thread& thread : threads) thread.join();
  Measured("migrant", migrant.span);
  Measured("migrant_run_delay", migrant.run_delay);
  target::Value("migrations", migrant.migrations);
  target::DoneAndStay();
}

// Children with one pid, one after the other, of two kinds.
void RunPids() {
  target::Check(rounds <= kMaxRounds, "--rounds");
  target::ReadyAndRun("", seconds);
  pid_t wanted = 0;
  uint64_t reused = 0;
  for (int i = 0; i < rounds; ++i) {
    pid_t child = target::ForkAs(wanted);
    if (child < 0) child = target::ForkAs(0);
    if (child == 0) {
      i % 2 == 0 ? first_life_wait(&shared->waits[i]) : second_life_wait(&shared->waits[i]);
      _exit(0);
    }
    target::Check(child > 0, "clone3");
    waitpid(child, nullptr, 0);
    reused += child == wanted;
    wanted = child;
  }
  for (int i = 0; i < rounds; ++i) Measured(i % 2 == 0 ? "first_life" : "second_life", shared->waits[i]);
  target::Value("reused", reused);
  target::DoneAndStay();
}

// The end of a process that has blocked threads.
using Ending = void (*)();

void EndByExec() {
  shared->ended_ns = Now();
  execl("/proc/self/exe", "states", "nothing", nullptr);
  target::Die("execl");
}

void EndByExit() {
  shared->ended_ns = Now();
  _exit(0);
}

void EndByKill() {
  shared->ended_ns = Now();
  kill(getpid(), SIGKILL);
}

// The main thread is one of those that are blocked.
[[noreturn]] void LiveAndEnd(Ending ending) {
  std::vector<std::thread> threads;
  threads.reserve(kBlockedThreads);
  for (int i = 1; i < kBlockedThreads; ++i) threads.emplace_back(doomed_wait, &shared->began_ns[i]);
  threads.emplace_back([ending] {
    for (const std::atomic<uint64_t>& began_ns : shared->began_ns)
      while (began_ns == 0) target::SleepNs(1'000'000);
    target::SleepNs(kLifeNs);
    ending();
  });
  doomed_wait(&shared->began_ns[0]);
  _exit(1);
}

void RunEnding(Ending ending) {
  target::ReadyAndRun("", seconds);
  Span blocked;  // until the end began, and until the process was gone: execve, for one, takes a while to kill them
  for (int i = 0; i < rounds; ++i) {
    for (std::atomic<uint64_t>& began_ns : shared->began_ns) began_ns = 0;
    const pid_t child = fork();
    if (child == 0) LiveAndEnd(ending);
    waitpid(child, nullptr, 0);
    const uint64_t gone_ns = Now();
    for (const std::atomic<uint64_t>& began_ns : shared->began_ns) {
      target::Check(began_ns != 0 && began_ns < shared->ended_ns, "it was not blocked");
      blocked.inner.ns += shared->ended_ns - began_ns;
      ++blocked.inner.count;
      blocked.outer.ns += gone_ns - began_ns;
      ++blocked.outer.count;
    }
  }
  Measured("doomed", blocked);
  target::DoneAndStay();
}

// A child that has ended, and that nobody asks about.
void RunZombie() {
  target::ReadyAndRun("", seconds);
  const pid_t child = fork();
  if (child == 0) {
    first_life_wait(&shared->waits[0]);
    _exit(0);
  }
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  target::SleepNs(static_cast<uint64_t>(seconds * 1e9));
  Measured("first_life", shared->waits[0]);
  target::Value("child", static_cast<uint64_t>(child));
  target::DoneAndStay();
}

// One thread that waits for as long as it takes thousands of others to live and end.
void RunCrowd() {
  std::atomic<uint32_t> ended = 0;
  std::atomic<pid_t> tid = 0;
  target::Sum sum;
  std::thread longest([&] {
    tid = gettid();
    gate.Pass();
    longest_wait(&ended, &sum);
  });
  while (tid == 0) sched_yield();
  target::ReadyAndRun(("longest=" + std::to_string(tid)).c_str(), 0);
  gate.Open();
  for (int i = 0; i < rounds; i += kTogether) {
    std::vector<std::thread> others;
    others.reserve(kTogether);
    for (int j = 0; j < kTogether; ++j) others.emplace_back(target::SleepNs, 1);
    for (std::thread& other : others) other.join();
  }
  ended = 1;
  FutexWake(&ended);
  longest.join();
  target::Measured("longest", "longest_wait", sum);
  target::DoneAndStay();
}

void Run(const std::string& mode) {
  if (mode == "hogs") return RunHogs();
  if (mode == "yield") return RunYield();
  if (mode == "migrant") return RunMigrant();
  if (mode == "pids") return RunPids();
  if (mode == "exec") return RunEnding(EndByExec);
  if (mode == "exit") return RunEnding(EndByExit);
  if (mode == "kill") return RunEnding(EndByKill);
  if (mode == "zombie") return RunZombie();
  if (mode == "crowd") return RunCrowd();
  if (mode == "nothing") return;
  fprintf(stderr, "states: unknown mode\n");
  exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  seconds = target::Option(argc, argv, "--seconds", seconds);
  rounds = static_cast<int>(target::Option(argc, argv, "--rounds", rounds));
  MapShared();
  Run(argc > 1 ? argv[1] : "");
}
