// While it lives, the calling thread comes before others on its CPU: for work that is bounded, and lost if it is late.
// On a host where dozens of threads want each CPU its turn would come too late. Threads that it starts meanwhile are
// hurried for good.
//
// Without the privilege (CAP_SYS_NICE, or RLIMIT_NICE) it comes before others as far as it may, or stays as it is.
// Destroyed by the same thread.
#ifndef OFFCPU_PROCESS_HURRIED_THREAD_H_
#define OFFCPU_PROCESS_HURRIED_THREAD_H_

namespace offcpu {

class HurriedThread {
 public:
  HurriedThread();
  ~HurriedThread();
  HurriedThread(const HurriedThread&) = delete;
  HurriedThread& operator=(const HurriedThread&) = delete;

 private:
  const int nice_before_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_HURRIED_THREAD_H_
