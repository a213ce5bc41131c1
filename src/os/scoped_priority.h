// While it lives, the calling thread comes before others on its CPU: for work that is bounded, and lost if it is late.
// On a host where dozens of threads want each CPU its turn would come too late. Threads that it starts meanwhile are
// raised for good.
//
// Without the privilege (CAP_SYS_NICE, or RLIMIT_NICE) it comes before others as far as it may, or stays as it is.
// Destroyed by the same thread.
#ifndef OFFCPU_OS_SCOPED_PRIORITY_H_
#define OFFCPU_OS_SCOPED_PRIORITY_H_

namespace offcpu {

class ScopedPriority {
 public:
  ScopedPriority();
  ~ScopedPriority();
  ScopedPriority(const ScopedPriority&) = delete;
  ScopedPriority& operator=(const ScopedPriority&) = delete;

 private:
  const int nice_before_;
};

}  // namespace offcpu

#endif  // OFFCPU_OS_SCOPED_PRIORITY_H_
