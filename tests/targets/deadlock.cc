// Threads that wait for mutexes for ever. Three pairs wait for each other's: `plain`, `recursive` and `robust`.
// `waiter` waits for a mutex of the kernel's (priority inheritance) that `holder` has. `condition` waits for a
// condition variable, whose mutex is free.
#include <pthread.h>

#include <atomic>

#include "all_sleep.h"
#include "target.h"

namespace {

struct Pair {
  const char* name;
  int type;
  int robustness;
  int protocol;
  pthread_mutex_t mutexes[2];
  pthread_barrier_t both_hold;
};

Pair pairs[] = {
    {"plain", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, {}, {}},
    {"recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, {}, {}},
    {"robust", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, {}, {}},
};
Pair inherits = {"inherits", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, {}, {}};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
std::atomic<int> waiting{0};  // or just about to

void MakeMutexes(Pair& pair) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, pair.type);
  pthread_mutexattr_setrobust(&attributes, pair.robustness);
  pthread_mutexattr_setprotocol(&attributes, pair.protocol);
  for (pthread_mutex_t& one : pair.mutexes) pthread_mutex_init(&one, &attributes);
  pthread_barrier_init(&pair.both_hold, nullptr, 2);
}

void Start(void* (*run)(void*), void* argument) {
  pthread_t thread;
  target::Check(pthread_create(&thread, nullptr, run, argument) == 0, "pthread_create");
  pthread_detach(thread);
}

void* FirstOfPair(void* argument) {
  auto* pair = static_cast<Pair*>(argument);
  pthread_setname_np(pthread_self(), (std::string(pair->name) + "-a").c_str());
  pthread_mutex_lock(&pair->mutexes[0]);
  pthread_barrier_wait(&pair->both_hold);
  ++waiting;
  pthread_mutex_lock(&pair->mutexes[1]);
  return nullptr;
}

void* SecondOfPair(void* argument) {
  auto* pair = static_cast<Pair*>(argument);
  pthread_setname_np(pthread_self(), (std::string(pair->name) + "-b").c_str());
  pthread_mutex_lock(&pair->mutexes[1]);
  pthread_barrier_wait(&pair->both_hold);
  ++waiting;
  pthread_mutex_lock(&pair->mutexes[0]);
  return nullptr;
}

void* Holder(void*) {
  pthread_setname_np(pthread_self(), "holder");
  pthread_mutex_lock(&inherits.mutexes[0]);
  pthread_barrier_wait(&inherits.both_hold);
  ++waiting;
  for (;;) pause();
}

void* Waiter(void*) {
  pthread_setname_np(pthread_self(), "waiter");
  pthread_barrier_wait(&inherits.both_hold);
  ++waiting;
  pthread_mutex_lock(&inherits.mutexes[0]);
  return nullptr;
}

void* Condition(void*) {
  pthread_setname_np(pthread_self(), "condition");
  pthread_mutex_lock(&mutex);
  ++waiting;
  for (;;) pthread_cond_wait(&never, &mutex);
}

}  // namespace

int main() {
  for (Pair& pair : pairs) {
    MakeMutexes(pair);
    Start(FirstOfPair, &pair);
    Start(SecondOfPair, &pair);
  }
  MakeMutexes(inherits);
  Start(Holder, nullptr);
  Start(Waiter, nullptr);
  Start(Condition, nullptr);
  while (waiting != 9 || !target::AllSleep()) target::SleepNs(1'000'000);
  target::ReadyAndRun("", 0);
  target::DoneAndStay();
}
