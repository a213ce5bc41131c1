// Processes that are built or behave as few do.
// Usage: unusual rename | leaderless | mappings [N] | open
//   rename      a thread is given another name by the main thread while it sleeps
//   leaderless  the main thread ends and leaves the process to another one
//   mappings    N executable mappings of a file (default 200), one of which goes half way through
//   open        a thread falls asleep during the run and does not wake again
#include <fcntl.h>
#include <sys/mman.h>

#include "target.h"

namespace {

constexpr uint64_t kWaitNs = 5'000'000;
constexpr int kRounds = 200;

target::Gate gate;
target::Sum sum;

void WaitOnce() {
  const target::OffCpuTimer timer(sum);
  target::SleepNs(kWaitNs);
}

}  // namespace

TARGET_FUNCTION void renamed_wait() {
  WaitOnce();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void leaderless_wait() {
  WaitOnce();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_before() {
  WaitOnce();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_after() {
  WaitOnce();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void open_wait() {
  target::SleepNs(3'600'000'000'000);
  TARGET_AFTER_CALL;
}

namespace {

pthread_t StartThread(void* (*run)(void*)) {
  pthread_t thread;
  target::Check(pthread_create(&thread, nullptr, run, nullptr) == 0, "pthread_create");
  return thread;
}

// Sleeps for a second under its first name, so that a wait which is wrongly dated back is seen.
void Rename() {
  static target::Sum first;
  const pthread_t thread = StartThread([](void*) -> void* {
    gate.Pass();
    {
      const target::OffCpuTimer timer(first);
      target::SleepNs(1'000'000'000);  // renamed in the middle of it
    }
    while (sum.count < kRounds) renamed_wait();
    return nullptr;
  });
  pthread_setname_np(thread, "first_name");
  target::ReadyAndRun("", 0);
  gate.Open();
  target::SleepNs(500'000'000);
  pthread_setname_np(thread, "other_name");
  pthread_join(thread, nullptr);
  target::Measured("other_name", "first_wait", first);
  target::Measured("other_name", "renamed_wait", sum);
  target::DoneAndStay();
}

[[noreturn]] void Leaderless() {
  StartThread([](void*) -> void* {
    target::ReadyAndRun("", 0);
    while (sum.count < kRounds) leaderless_wait();
    target::Measured("unusual", "leaderless_wait", sum);
    target::DoneAndStay();
    exit(0);
  });
  pthread_exit(nullptr);
}

void Mappings(int count) {
  const int file = open("/bin/true", O_RDONLY | O_CLOEXEC);
  target::Check(file >= 0, "/bin/true");
  void* last = nullptr;
  for (int i = 0; i < count; ++i) {
    last = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    target::Check(last != MAP_FAILED, "mmap");
  }
  target::ReadyAndRun("", 0);
  while (sum.count < kRounds) wait_before();
  target::Measured("main", "wait_before", sum);
  munmap(last, 4096);
  sum = {};
  while (sum.count < kRounds) wait_after();
  target::Measured("main", "wait_after", sum);
  target::DoneAndStay();
}

void Open() {
  StartThread([](void*) -> void* {
    gate.Pass();
    target::SleepNs(100'000'000);
    open_wait();
    return nullptr;
  });
  target::ReadyAndRun("", 0);
  gate.Open();
  target::SleepNs(2'000'000'000);
  target::DoneAndStay();
}

}  // namespace

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "rename") == 0) {
    Rename();
  } else if (strcmp(mode, "leaderless") == 0) {
    Leaderless();
  } else if (strcmp(mode, "mappings") == 0) {
    Mappings(argc > 2 ? atoi(argv[2]) : 200);
  } else if (strcmp(mode, "open") == 0) {
    Open();
  } else {
    fprintf(stderr, "usage: unusual rename | leaderless | mappings [N] | open\n");
    return 2;
  }
  return 0;
}
