// Checks that what belongs to one thread is used by that thread only: when it runs, in debug builds, and when it is
// compiled, as far as members and functions are declared with ABSL_GUARDED_BY and ABSL_EXCLUSIVE_LOCKS_REQUIRED.
#ifndef OFFCPU_RECORDER_THREAD_CHECKER_H_
#define OFFCPU_RECORDER_THREAD_CHECKER_H_

#include <atomic>
#include <cstdlib>
#include <thread>

#include "absl/base/thread_annotations.h"

namespace offcpu {

class ABSL_LOCKABLE ThreadChecker {
 public:
  // Aborts if another thread is the owner. If there is none, the calling thread is from now on.
  void Check() const ABSL_ASSERT_EXCLUSIVE_LOCK() {
#ifndef NDEBUG
    std::thread::id owner;
    const std::thread::id caller = std::this_thread::get_id();
    if (!owner_.compare_exchange_strong(owner, caller) && owner != caller) std::abort();
#endif
  }
  // The next thread that calls Check is the owner. The caller knows that the last one is done.
  void HandOver() { owner_ = std::thread::id(); }

 private:
  mutable std::atomic<std::thread::id> owner_{std::thread::id()};
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_THREAD_CHECKER_H_
