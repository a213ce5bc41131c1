// Processes, threads, images and libraries that come and go while others wait. Built twice, as `churn` (CHURN_IMAGE a)
// and `churn_b`: two images whose functions lie at different offsets of the same addresses.
// Usage: churn exec|fork|exit|dlopen|pids [--rounds N] [--life-ms N]
// A life is that of each image or library, in the modes exec, pids and dlopen.
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "fork_as.h"
#include "target.h"

#define JOIN3(x, y, z) x##y##z
#define NAMED(prefix, middle, suffix) JOIN3(prefix, middle, suffix)
#define IS_B_a 0
#define IS_B_b 1
#define IS_B(image) NAMED(IS_B_, image, )
#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

namespace {

// In memory that children and later images share: one memfd.
struct Shared {
  target::Sum image_a;
  target::Sum image_b;
  target::Sum child;
  target::Sum exit_main;
  uint64_t rounds_done;
  uint64_t reused_pids;
};

Shared* shared = nullptr;
int shared_fd = -1;
int rounds = 100;
uint64_t life_ms = 3;

void MapShared() {
  void* mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
  target::Check(mapped != MAP_FAILED, "mmap");
  shared = static_cast<Shared*>(mapped);
}

std::string Directory() {
  char path[PATH_MAX] = {};
  target::Check(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "readlink");
  return dirname(path);
}

[[noreturn]] void ExecImage(const char* image, const char* mode) {
  const std::string path = Directory() + "/" + image;
  const std::string fd = std::to_string(shared_fd);
  const std::string count = std::to_string(rounds);
  const std::string life = std::to_string(life_ms);
  execl(path.c_str(), image, mode, "--sums", fd.c_str(), "--rounds", count.c_str(), "--life-ms", life.c_str(), nullptr);
  target::Die("execl");
}

constexpr const char* kOtherImage = IS_B(CHURN_IMAGE) ? "churn" : "churn_b";

target::Sum& ImageSum() { return IS_B(CHURN_IMAGE) ? shared->image_b : shared->image_a; }

}  // namespace

#if IS_B(CHURN_IMAGE)
TARGET_FUNCTION int image_b_in_front(int x) {
  volatile int sum = 0;
  for (int i = 0; i < x; ++i) sum = sum + i * x;
  return sum;
}
#endif

TARGET_FUNCTION void NAMED(image_, CHURN_IMAGE, _wait)() {
  volatile char pad[64 + 192 * IS_B(CHURN_IMAGE)];
  pad[0] = 1;
  const target::OffCpuTimer timer(ImageSum());
  target::SleepNs(300'000);
  pad[1] = pad[0];
}

TARGET_FUNCTION void NAMED(image_, CHURN_IMAGE, _caller)() {
  volatile char pad[320 - 224 * IS_B(CHURN_IMAGE)];
  pad[0] = 1;
  NAMED(image_, CHURN_IMAGE, _wait)();
  pad[1] = pad[0];
}

TARGET_FUNCTION void NAMED(image_, CHURN_IMAGE, _execer)() {
  target::SleepNs(life_ms * 1'000'000);
  ExecImage(kOtherImage, "exec");
}

TARGET_FUNCTION void fork_child_wait() {
  const target::OffCpuTimer timer(shared->child);
  target::SleepNs(1'000'000);
}

TARGET_FUNCTION void fork_parent_wait(pid_t child, target::Sum* sum) {
  const target::OffCpuTimer timer(*sum);
  waitpid(child, nullptr, 0);
}

TARGET_FUNCTION void exit_blocked_wait() {
  while (true) target::SleepNs(1'000'000'000);
}

TARGET_FUNCTION void exit_thread_wait(target::Sum* sum) {
  const target::OffCpuTimer timer(*sum);
  target::SleepNs(1'000'000);
}

TARGET_FUNCTION void exit_main_wait() {
  const target::OffCpuTimer timer(shared->exit_main);
  target::SleepNs(2'000'000);
}

TARGET_FUNCTION void call_a(void (*function)(), target::Sum* sum) {
  const target::OffCpuTimer timer(*sum);
  function();
}

TARGET_FUNCTION void call_b(void (*function)(), target::Sum* sum) {
  const target::OffCpuTimer timer(*sum);
  function();
}

namespace {

using ThreadBody = void* (*)(void*);

pthread_t StartThread(ThreadBody body, void* argument, const char* name) {
  pthread_t thread;
  target::Check(pthread_create(&thread, nullptr, body, argument) == 0, "pthread_create");
  pthread_setname_np(thread, name);
  return thread;
}

// exec: in each image one thread waits over and over, and another replaces the image meanwhile.
void RunExec() {
  if (shared->rounds_done++ == static_cast<uint64_t>(rounds)) {
    target::Measured("blocked", "image_a_wait", shared->image_a);
    target::Measured("blocked", "image_b_wait", shared->image_b);
    target::DoneAndStay();
    return;
  }
  StartThread(
      [](void*) -> void* {
        while (true) NAMED(image_, CHURN_IMAGE, _caller)();
      },
      nullptr, "blocked");
  pthread_t execer = StartThread(
      [](void*) -> void* {
        NAMED(image_, CHURN_IMAGE, _execer)();
        return nullptr;
      },
      nullptr, "execer");
  pthread_join(execer, nullptr);
}

void RunFork() {
  target::Sum parent;
  for (int i = 0; i < rounds; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      fork_child_wait();
      _exit(0);
    }
    fork_parent_wait(child, &parent);
  }
  target::Measured("churn", "fork_child_wait", shared->child);
  target::Measured("churn", "fork_parent_wait", parent);
  target::DoneAndStay();
}

[[noreturn]] void ExitBesideBlocked() {
  for (int i = 0; i < 3; ++i) {
    StartThread(
        [](void*) -> void* {
          exit_blocked_wait();
          return nullptr;
        },
        nullptr, "exit_blocked");
  }
  exit_main_wait();
  _exit(0);
}

// exit: processes end while threads of theirs wait; threads end while the others go on.
void RunExit() {
  target::Sum threads;
  for (int i = 0; i < rounds; ++i) {
    const pid_t child = fork();
    if (child == 0) ExitBesideBlocked();
    pthread_t thread = StartThread(
        [](void* sum) -> void* {
          exit_thread_wait(static_cast<target::Sum*>(sum));
          return nullptr;
        },
        &threads, "exit_thread");
    pthread_join(thread, nullptr);
    waitpid(child, nullptr, 0);
  }
  target::Measured("churn", "exit_main_wait", shared->exit_main);
  target::Measured("exit_thread", "exit_thread_wait", threads);
  target::DoneAndStay();
}

using CallFunction = void (*)(void (*)(), target::Sum*);

// Loads a library, waits in it for its life and unloads it. Returns where it was.
uint64_t UseLibrary(const std::string& path, const char* symbol, CallFunction call, target::Sum* sum) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  target::Check(library != nullptr, path.c_str());
  const uint64_t base = static_cast<link_map*>(library)->l_addr;
  auto* function = reinterpret_cast<void (*)()>(dlsym(library, symbol));
  const uint64_t end = target::ClockNs(CLOCK_MONOTONIC) + life_ms * 1'000'000;
  while (target::ClockNs(CLOCK_MONOTONIC) < end) call(function, sum);
  dlclose(library);
  return base;
}

void RunDlopen() {
  const std::string directory = Directory();
  target::Sum sum_a;
  target::Sum sum_b;
  uint64_t same_address = 0;
  for (int i = 0; i < rounds; ++i) {
    const uint64_t a = UseLibrary(directory + "/libchurn_a.so", "lib_a_wait", call_a, &sum_a);
    const uint64_t b = UseLibrary(directory + "/libchurn_b.so", "lib_b_wait", call_b, &sum_b);
    same_address += a == b;
  }
  target::Measured("churn", "lib_a_wait", sum_a);
  target::Measured("churn", "lib_b_wait", sum_b);
  target::Value("same_address", same_address);
  target::DoneAndStay();
}

// pids: children, alternately of two images, all with one pid.
void RunPids() {
  pid_t wanted = 0;
  for (int i = 0; i < rounds; ++i) {
    pid_t child = target::ForkAs(wanted);
    if (child < 0) child = target::ForkAs(0);
    if (child == 0) ExecImage(i % 2 == 0 ? "churn" : "churn_b", "once");
    target::Check(child > 0, "clone3");
    waitpid(child, nullptr, 0);
    shared->reused_pids += child == wanted;
    wanted = child;
  }
  target::Measured("churn", "image_a_wait", shared->image_a);
  target::Measured("churn_b", "image_b_wait", shared->image_b);
  target::Value("reused_pids", shared->reused_pids);
  target::DoneAndStay();
}

void Run(const std::string& mode) {
  if (mode == "exec") return RunExec();
  if (mode == "fork") return RunFork();
  if (mode == "exit") return RunExit();
  if (mode == "dlopen") return RunDlopen();
  if (mode == "pids") return RunPids();
  if (mode == "once") {
    const uint64_t end = target::ClockNs(CLOCK_MONOTONIC) + life_ms * 1'000'000;
    while (target::ClockNs(CLOCK_MONOTONIC) < end) NAMED(image_, CHURN_IMAGE, _caller)();
    return;
  }
  fprintf(stderr, "churn: unknown mode\n");
  exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  // Both images at the same addresses, always.
  if ((personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0) {
    personality(ADDR_NO_RANDOMIZE);
    execv("/proc/self/exe", argv);
    target::Die("execv");
  }
  rounds = static_cast<int>(target::Option(argc, argv, "--rounds", 100)) / 2 * 2;
  life_ms = static_cast<uint64_t>(target::Option(argc, argv, "--life-ms", 1));
  shared_fd = static_cast<int>(target::Option(argc, argv, "--sums", -1));
  const bool first = shared_fd < 0;
  if (first) {
    shared_fd = memfd_create("sums", 0);
    target::Check(shared_fd >= 0 && ftruncate(shared_fd, sizeof(Shared)) == 0, "memfd");
  }
  MapShared();
  if (first) target::ReadyAndRun("", 0);
  Run(argc > 1 ? argv[1] : "");
}
