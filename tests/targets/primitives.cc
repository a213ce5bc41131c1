// One thread for each way in which threads of a program wait for each other, and one that sleeps, each below a function
// of its own. Other threads give them what they wait for, every 2 ms.
// Usage: primitives [--seconds S]
#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "target.h"
#include "waiter.h"

namespace {

constexpr uint64_t kPeriodNs = 2'000'000;

target::Gate gate;

// Two locks, which a holder has most of the time; a semaphore says that it has one now.
pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
sem_t mutex_held;
pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
sem_t rwlock_held;

std::mutex condvar_mutex;
std::condition_variable condvar;
uint64_t condvar_turns = 0;
sem_t fed;
pthread_barrier_t met;
std::thread joined;

// What is made once: a new one for each wait. One thread makes it, the waiter comes meanwhile.
constexpr size_t kOnces = 100'000;
std::array<pthread_once_t, kOnces> onces;
std::atomic<size_t> this_once = 0;
sem_t once_begun;
sem_t once_over;

void Nothing() {}
void Nap() { target::SleepNs(kPeriodNs); }

}  // namespace

TARGET_FUNCTION void wait_in_mutex() {
  pthread_mutex_lock(&contended);
  pthread_mutex_unlock(&contended);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_rwlock() {
  pthread_rwlock_rdlock(&written);
  pthread_rwlock_unlock(&written);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_condvar() {
  std::unique_lock lock(condvar_mutex);
  const uint64_t seen = condvar_turns;
  condvar.wait(lock, [seen] { return condvar_turns != seen; });
}

TARGET_FUNCTION void wait_in_semaphore() {
  sem_wait(&fed);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_barrier() {
  pthread_barrier_wait(&met);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_join() {
  joined.join();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_once() {
  pthread_once(&onces[this_once], Nothing);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void wait_in_sleep() {
  target::SleepNs(kPeriodNs);
  TARGET_AFTER_CALL;
}

namespace {

void AwaitMutexHolder() { sem_wait(&mutex_held); }
void AwaitRwlockHolder() { sem_wait(&rwlock_held); }
void StartJoined() { joined = std::thread(Nap); }

void AwaitOnce() {
  static bool is_first = true;
  if (!is_first) sem_post(&once_over);
  is_first = false;
  sem_wait(&once_begun);
}

// Those that give never end: what they give may be waited for until the end.
void RunMutexHolder() {
  while (true) {
    pthread_mutex_lock(&contended);
    sem_post(&mutex_held);
    Nap();
    pthread_mutex_unlock(&contended);
    target::SleepNs(kPeriodNs / 10);
  }
}

void RunRwlockHolder() {
  while (true) {
    pthread_rwlock_wrlock(&written);
    sem_post(&rwlock_held);
    Nap();
    pthread_rwlock_unlock(&written);
    target::SleepNs(kPeriodNs / 10);
  }
}

void RunFeeder() {
  while (true) {
    Nap();
    sem_post(&fed);
    {
      const std::lock_guard lock(condvar_mutex);
      ++condvar_turns;
    }
    condvar.notify_one();
  }
}

void RunPartner() {
  while (true) {
    Nap();
    pthread_barrier_wait(&met);
  }
}

void Make() {
  sem_post(&once_begun);
  Nap();
}

void RunMaker() {
  for (size_t i = 0; i < kOnces; ++i) {
    this_once = i;
    pthread_once(&onces[i], Make);
    sem_wait(&once_over);
  }
}

}  // namespace

int main(int argc, char** argv) {
  onces.fill(PTHREAD_ONCE_INIT);
  for (sem_t* semaphore : {&mutex_held, &rwlock_held, &fed, &once_begun, &once_over}) sem_init(semaphore, 0, 0);
  pthread_barrier_init(&met, nullptr, 2);

  target::Waiter waiters[] = {
      {"p_mutex", "wait_in_mutex", wait_in_mutex, AwaitMutexHolder, {}},
      {"p_rwlock", "wait_in_rwlock", wait_in_rwlock, AwaitRwlockHolder, {}},
      {"p_condvar", "wait_in_condvar", wait_in_condvar, Nothing, {}},
      {"p_semaphore", "wait_in_semaphore", wait_in_semaphore, Nothing, {}},
      {"p_barrier", "wait_in_barrier", wait_in_barrier, Nothing, {}},
      {"p_join", "wait_in_join", wait_in_join, StartJoined, {}},
      {"p_once", "wait_in_once", wait_in_once, AwaitOnce, {}},
      {"p_sleep", "wait_in_sleep", wait_in_sleep, Nothing, {}},
  };
  std::vector<std::thread> threads;
  for (target::Waiter& waiter : waiters) threads.emplace_back(target::RunWaiter, &waiter, &gate);

  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  for (const auto give : {RunMutexHolder, RunRwlockHolder, RunFeeder, RunPartner, RunMaker}) std::thread(give).detach();
  gate.Open();
  for (std::thread& thread : threads) thread.join();

  for (const target::Waiter& waiter : waiters) target::Measured(waiter.thread, waiter.function, waiter.sum);
  target::DoneAndStay();
  _exit(0);  // the others go on to use what would be destroyed
}
