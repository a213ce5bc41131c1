// One thread for each usual way to wait, each below a function of its own. Two more threads give them what they wait
// for: every 2 ms. Another one may make children that end at once, for which the kernel locks all of the process's
// memory. Usage: waits [--seconds S] [--fork-ms MS]
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "target.h"
#include "waiter.h"

namespace {

constexpr uint64_t kPeriodNs = 2'000'000;

target::Gate gate;
int read_pipe[2];
int poll_pipe[2];
int sockets[2];
int epoll_source = -1;
int epoll_set = -1;
pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
sem_t contended_held;
std::mutex condvar_mutex;
std::condition_variable condvar;
uint64_t condvar_turns = 0;
std::atomic<bool> waiters_done = false;

struct Device {
  virtual ~Device() = default;
  virtual void Use() = 0;
};

struct SlowDevice : Device {
  void Use() override;
};

std::function<void()> callback;
Device* device;

}  // namespace

TARGET_FUNCTION void wait_in_nanosleep() {
  target::SleepNs(kPeriodNs);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_futex() {
  static uint32_t word = 0;
  const timespec timeout = {0, kPeriodNs};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout, nullptr, 0);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_pipe() {
  char byte;
  target::Check(read(read_pipe[0], &byte, 1) == 1, "read");
}

TARGET_FUNCTION void wait_in_poll() {
  pollfd entry = {poll_pipe[0], POLLIN, 0};
  char byte;
  target::Check(poll(&entry, 1, -1) == 1 && read(poll_pipe[0], &byte, 1) == 1, "poll");
}

TARGET_FUNCTION void wait_in_epoll() {
  epoll_event event;
  uint64_t value;
  target::Check(epoll_wait(epoll_set, &event, 1, -1) == 1, "epoll_wait");
  target::Check(read(epoll_source, &value, sizeof(value)) == sizeof(value), "read");
}

TARGET_FUNCTION void wait_in_recv() {
  char byte;
  target::Check(recv(sockets[0], &byte, 1, 0) == 1, "recv");
}

// No signal comes: it waits for its timeout.
TARGET_FUNCTION void wait_in_sigwait() {
  sigset_t none;
  sigemptyset(&none);
  const timespec timeout = {0, kPeriodNs};
  target::Check(sigtimedwait(&none, nullptr, &timeout) == -1, "sigtimedwait");
}

TARGET_FUNCTION void wait_in_mutex() {
  pthread_mutex_lock(&contended);
  pthread_mutex_unlock(&contended);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_condvar() {
  std::unique_lock lock(condvar_mutex);
  const uint64_t seen = condvar_turns;
  condvar.wait(lock, [seen] { return condvar_turns != seen; });
}

TARGET_FUNCTION void wait_in_virtual() {
  device->Use();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_lambda() {
  callback();
  TARGET_AFTER_CALL;
}

namespace {

__attribute__((noinline)) void SlowDevice::Use() {
  target::SleepNs(kPeriodNs);
  TARGET_AFTER_CALL;
}

void Nothing() {}

// The holder has the mutex now and sleeps on it.
void AwaitHolder() { sem_wait(&contended_held); }

void RunFeeder() {
  pthread_setname_np(pthread_self(), "f_feeder");
  const uint64_t one = 1;
  while (!waiters_done) {
    target::SleepNs(kPeriodNs);
    target::Check(write(read_pipe[1], "x", 1) == 1 && write(poll_pipe[1], "x", 1) == 1, "write");
    target::Check(send(sockets[1], "x", 1, 0) == 1, "send");
    target::Check(write(epoll_source, &one, sizeof(one)) == sizeof(one), "write");
    {
      const std::lock_guard lock(condvar_mutex);
      ++condvar_turns;
    }
    condvar.notify_one();
  }
}

void RunHolder() {
  pthread_setname_np(pthread_self(), "f_holder");
  while (!waiters_done) {
    pthread_mutex_lock(&contended);
    sem_post(&contended_held);
    target::SleepNs(kPeriodNs);
    pthread_mutex_unlock(&contended);
    target::SleepNs(kPeriodNs / 10);
  }
}

void RunForker(uint64_t period_ns, uint64_t* forks) {
  pthread_setname_np(pthread_self(), "f_forker");
  while (!waiters_done) {
    target::SleepNs(period_ns);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    target::Check(child > 0 && waitpid(child, nullptr, 0) == child, "fork");
    ++*forks;
  }
}

void OpenSources() {
  target::Check(pipe2(read_pipe, O_CLOEXEC) == 0 && pipe2(poll_pipe, O_CLOEXEC) == 0, "pipe");
  target::Check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0, "socketpair");
  epoll_source = eventfd(0, EFD_CLOEXEC);
  epoll_set = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event = {};
  event.events = EPOLLIN;
  target::Check(epoll_ctl(epoll_set, EPOLL_CTL_ADD, epoll_source, &event) == 0, "epoll_ctl");
}

}  // namespace

int main(int argc, char** argv) {
  SlowDevice slow_device;
  device = &slow_device;
  callback = [] {
    target::SleepNs(kPeriodNs);
    TARGET_AFTER_CALL;
  };
  OpenSources();
  sem_init(&contended_held, 0, 0);

  target::Waiter waiters[] = {
      {"w_nanosleep", "wait_in_nanosleep", wait_in_nanosleep, Nothing, {}},
      {"w_futex", "wait_in_futex", wait_in_futex, Nothing, {}},
      {"w_pipe", "wait_in_pipe", wait_in_pipe, Nothing, {}},
      {"w_poll", "wait_in_poll", wait_in_poll, Nothing, {}},
      {"w_epoll", "wait_in_epoll", wait_in_epoll, Nothing, {}},
      {"w_recv", "wait_in_recv", wait_in_recv, Nothing, {}},
      {"w_sigwait", "wait_in_sigwait", wait_in_sigwait, Nothing, {}},
      {"w_mutex", "wait_in_mutex", wait_in_mutex, AwaitHolder, {}},
      {"w_condvar", "wait_in_condvar", wait_in_condvar, Nothing, {}},
      {"w_virtual", "wait_in_virtual", wait_in_virtual, Nothing, {}},
      {"w_lambda", "wait_in_lambda", wait_in_lambda, Nothing, {}},
  };
  std::vector<std::thread> threads;
  for (target::Waiter& waiter : waiters) threads.emplace_back(target::RunWaiter, &waiter, &gate);

  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  std::thread feeder(RunFeeder);
  std::thread holder(RunHolder);
  const auto fork_ns = static_cast<uint64_t>(target::Option(argc, argv, "--fork-ms", 0) * 1e6);
  uint64_t forks = 0;
  std::thread forker;
  if (fork_ns != 0) forker = std::thread(RunForker, fork_ns, &forks);
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  waiters_done = true;
  feeder.join();
  holder.join();
  if (forker.joinable()) forker.join();

  for (const target::Waiter& waiter : waiters) target::Measured(waiter.thread, waiter.function, waiter.sum);
  target::Value("forks", forks);
  target::DoneAndStay();
}
