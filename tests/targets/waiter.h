// A thread that waits in one function, again and again, and measures that.
#ifndef OFFCPU_TESTS_TARGETS_WAITER_H_
#define OFFCPU_TESTS_TARGETS_WAITER_H_

#include <pthread.h>

#include "target.h"

namespace target {

struct Waiter {
  const char* thread;
  const char* function;
  void (*wait)();
  void (*prepare)();  // not measured
  Sum sum;
};

// What such a thread runs.
inline void RunWaiter(Waiter* waiter, Gate* gate) {
  pthread_setname_np(pthread_self(), waiter->thread);
  gate->Pass();
  while (!Over()) {
    waiter->prepare();
    const OffCpuTimer measured(waiter->sum);
    waiter->wait();
  }
}

}  // namespace target

#endif  // OFFCPU_TESTS_TARGETS_WAITER_H_
