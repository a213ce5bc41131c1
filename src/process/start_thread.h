// A thread where there may be no room for one: a limit of tasks is no reason to end. All signals are blocked in it;
// they belong to the thread that waits for them.
#ifndef OFFCPU_PROCESS_START_THREAD_H_
#define OFFCPU_PROCESS_START_THREAD_H_

#include <functional>
#include <thread>

#include "absl/status/statusor.h"

namespace offcpu {

// ResourceExhausted if the system does not give one. `name`: of at most 15 characters, as others see it.
absl::StatusOr<std::thread> StartThread(const char* name, std::function<void()> run);

// The calling thread comes before others from now on: for work that takes little and is lost if it is late. Without
// the privilege (CAP_SYS_NICE, or RLIMIT_NICE) it stays as it is.
void HurryThisThread();

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_START_THREAD_H_
