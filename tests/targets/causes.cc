// One thread for each cause of a wait that `waits` has not, each below a function of its own.
// Usage: causes DIRECTORY [--seconds S]
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <sched.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "target.h"
#include "waiter.h"

namespace {

constexpr uint64_t kPeriodNs = 2'000'000;
constexpr size_t kPage = 4096;

target::Gate gate;
int unix_pair[2];
int tcp_listener = -1;
int select_pipe[2];
int event = -1;
int timer = -1;
int locked = -1;   // by the feeder, now and then
int lock_it = -1;  // the same file, opened again
int direct = -1;   // a file whose reads come from its device; -1: the file system has none
int synced = -1;
char* direct_page = nullptr;
char* faulted = nullptr;
int fault_handler = -1;
int32_t* short_time = nullptr;  // a timespec of 32-bit programs, where they can reach it; null: the kernel runs none
sockaddr_in tcp_address;
pid_t child = 0;
pid_t spawned = 0;
pid_t vforked = 0;
std::atomic<bool> waiters_done = false;

void Nothing() {}

}  // namespace

TARGET_FUNCTION void wait_in_unix() {
  char byte;
  target::Check(read(unix_pair[0], &byte, 1) == 1, "read");
}

TARGET_FUNCTION void wait_in_accept() {
  const int connection = accept(tcp_listener, nullptr, nullptr);
  target::Check(connection >= 0, "accept");
  close(connection);
}

TARGET_FUNCTION void wait_in_select() {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(select_pipe[0], &set);
  char byte;
  target::Check(select(select_pipe[0] + 1, &set, nullptr, nullptr, nullptr) == 1, "select");
  target::Check(read(select_pipe[0], &byte, 1) == 1, "read");
}

TARGET_FUNCTION void wait_in_eventfd() {
  uint64_t value;
  target::Check(read(event, &value, sizeof(value)) == sizeof(value), "read");
}

TARGET_FUNCTION void wait_in_timerfd() {
  uint64_t value;
  target::Check(read(timer, &value, sizeof(value)) == sizeof(value), "read");
}

TARGET_FUNCTION void wait_in_flock() {
  target::Check(flock(lock_it, LOCK_EX) == 0, "flock");
  flock(lock_it, LOCK_UN);
  TARGET_AFTER_CALL;
}

// Numbered as 32-bit programs number theirs: 64-bit ones call 162 sync.
TARGET_FUNCTION void wait_in_compat() {
  constexpr int kNanosleep = 162;
  int result = kNanosleep;
  asm volatile("int $0x80" : "+a"(result) : "b"(short_time), "c"(0) : "memory", "r8", "r9", "r10", "r11");
  target::Check(result == 0, "int $0x80");
}

TARGET_FUNCTION void wait_in_waitpid() { target::Check(waitpid(child, nullptr, 0) == child, "waitpid"); }

TARGET_FUNCTION void wait_in_spawn() {
  char name[] = "true";
  char* const words[] = {name, nullptr};
  target::Check(posix_spawnp(&spawned, name, nullptr, nullptr, words, environ) == 0, "posix_spawnp");
}

TARGET_FUNCTION void wait_in_vfork() {
  vforked = vfork();
  if (vforked == 0) {
    execlp("true", "true", nullptr);
    _exit(1);
  }
}

TARGET_FUNCTION void wait_in_fault() {
  *static_cast<volatile char*>(faulted) = 1;
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_direct() { target::Check(pread(direct, direct_page, kPage, 0) == kPage, "pread"); }

TARGET_FUNCTION void wait_in_fsync() { target::Check(pwrite(synced, "x", 1, 0) == 1 && fsync(synced) == 0, "fsync"); }

namespace {

// The feeder has the lock now and keeps it for a while.
void AwaitLock() {
  while (!target::Over() && flock(lock_it, LOCK_EX | LOCK_NB) == 0) {
    flock(lock_it, LOCK_UN);
    target::SleepNs(kPeriodNs / 20);
  }
}

void Reap(pid_t* last) {
  if (*last > 0) waitpid(std::exchange(*last, 0), nullptr, 0);
}

void StartChild() {
  child = fork();
  if (child == 0) {
    target::SleepNs(kPeriodNs);
    _exit(0);
  }
}

// Touching it is a fault again.
void DropPage() { madvise(faulted, kPage, MADV_DONTNEED); }

void RunFeeder() {
  pthread_setname_np(pthread_self(), "f_feeder");
  const uint64_t one = 1;
  while (!waiters_done) {
    flock(locked, LOCK_EX);
    target::SleepNs(kPeriodNs);
    flock(locked, LOCK_UN);
    target::Check(write(unix_pair[1], "x", 1) == 1 && write(select_pipe[1], "x", 1) == 1, "write");
    target::Check(write(event, &one, sizeof(one)) == sizeof(one), "write");
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    target::Check(connect(client, reinterpret_cast<sockaddr*>(&tcp_address), sizeof(tcp_address)) == 0, "connect");
    close(client);
    target::SleepNs(kPeriodNs / 4);
  }
}

// Gives each page that is touched its bytes, later.
void RunFaultHandler() {
  pthread_setname_np(pthread_self(), "f_faults");
  alignas(kPage) static char page[kPage];
  uffd_msg message;
  while (read(fault_handler, &message, sizeof(message)) == sizeof(message)) {
    target::SleepNs(kPeriodNs);
    uffdio_copy copy = {};
    copy.dst = message.arg.pagefault.address & ~(kPage - 1);
    copy.src = reinterpret_cast<uint64_t>(page);
    copy.len = kPage;
    ioctl(fault_handler, UFFDIO_COPY, &copy);
  }
}

void OpenSockets() {
  target::Check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, unix_pair) == 0, "socketpair");
  tcp_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  tcp_address.sin_family = AF_INET;
  tcp_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(tcp_address);
  target::Check(bind(tcp_listener, reinterpret_cast<sockaddr*>(&tcp_address), size) == 0, "bind");
  target::Check(listen(tcp_listener, 64) == 0, "listen");
  getsockname(tcp_listener, reinterpret_cast<sockaddr*>(&tcp_address), &size);
}

void OpenFiles(const std::string& directory) {
  const std::string lock = directory + "/lock";
  const std::string data = directory + "/data";
  const std::string log = directory + "/log";
  locked = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  lock_it = open(lock.c_str(), O_RDWR | O_CLOEXEC);
  synced = open(log.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int written = open(data.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  target::Check(locked >= 0 && lock_it >= 0 && synced >= 0 && written >= 0, "open");
  direct_page = static_cast<char*>(aligned_alloc(kPage, kPage));
  target::Check(write(written, direct_page, kPage) == kPage && fsync(written) == 0, "write");
  close(written);
  direct = open(data.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
}

void OpenFault() {
  fault_handler = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
  uffdio_api api = {};
  api.api = UFFD_API;
  target::Check(fault_handler >= 0 && ioctl(fault_handler, UFFDIO_API, &api) == 0, "userfaultfd");
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  faulted = static_cast<char*>(page);
  uffdio_register range = {};
  range.range.start = reinterpret_cast<uint64_t>(page);
  range.range.len = kPage;
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  target::Check(ioctl(fault_handler, UFFDIO_REGISTER, &range) == 0, "UFFDIO_REGISTER");
}

void OpenTimer() {
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  itimerspec period = {};
  period.it_interval.tv_nsec = period.it_value.tv_nsec = kPeriodNs;
  target::Check(timerfd_settime(timer, 0, &period, nullptr) == 0, "timerfd_settime");
}

void OpenCompat() {
  const pid_t tries = fork();
  if (tries == 0) {
    constexpr int kGetPid = 20;
    int result = kGetPid;
    asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    _exit(result == getpid() ? 0 : 1);
  }
  int status = 0;
  if (waitpid(tries, &status, 0) != tries || status != 0) return;
  void* low = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  target::Check(low != MAP_FAILED, "mmap");
  short_time = static_cast<int32_t*>(low);
  short_time[1] = kPeriodNs;
}

}  // namespace

int main(int argc, char** argv) {
  target::Check(argc > 1, "a directory");
  OpenSockets();
  OpenFiles(argv[1]);
  OpenFault();
  OpenTimer();
  OpenCompat();
  target::Check(pipe2(select_pipe, O_CLOEXEC) == 0, "pipe");
  event = eventfd(0, EFD_CLOEXEC);

  std::vector<target::Waiter> waiters = {
      {"c_unix", "wait_in_unix", wait_in_unix, Nothing, {}},
      {"c_accept", "wait_in_accept", wait_in_accept, Nothing, {}},
      {"c_select", "wait_in_select", wait_in_select, Nothing, {}},
      {"c_eventfd", "wait_in_eventfd", wait_in_eventfd, Nothing, {}},
      {"c_timerfd", "wait_in_timerfd", wait_in_timerfd, Nothing, {}},
      {"c_flock", "wait_in_flock", wait_in_flock, AwaitLock, {}},
      {"c_waitpid", "wait_in_waitpid", wait_in_waitpid, StartChild, {}},
      {"c_spawn", "wait_in_spawn", wait_in_spawn, [] { Reap(&spawned); }, {}},
      {"c_vfork", "wait_in_vfork", wait_in_vfork, [] { Reap(&vforked); }, {}},
      {"c_fault", "wait_in_fault", wait_in_fault, DropPage, {}},
      {"c_fsync", "wait_in_fsync", wait_in_fsync, Nothing, {}},
  };
  if (direct >= 0) waiters.push_back({"c_direct", "wait_in_direct", wait_in_direct, Nothing, {}});
  if (short_time != nullptr) waiters.push_back({"c_compat", "wait_in_compat", wait_in_compat, Nothing, {}});
  std::vector<std::thread> threads;
  for (target::Waiter& waiter : waiters) threads.emplace_back(target::RunWaiter, &waiter, &gate);

  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  std::thread feeder(RunFeeder);
  std::thread(RunFaultHandler).detach();
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  waiters_done = true;
  feeder.join();

  for (const target::Waiter& waiter : waiters) target::Measured(waiter.thread, waiter.function, waiter.sum);
  target::DoneAndStay();
  return 0;
}
