// A thread where there may be no room for one: a limit of tasks is no reason to end. All signals are blocked in it;
// they belong to the thread that waits for them.
#ifndef OFFCPU_OS_START_THREAD_H_
#define OFFCPU_OS_START_THREAD_H_

#include <functional>
#include <thread>

#include "absl/status/statusor.h"

namespace offcpu {

// ResourceExhausted if the system does not give one. `name`: of at most 15 characters, as others see it.
absl::StatusOr<std::thread> StartThread(const char* name, std::function<void()> run);

}  // namespace offcpu

#endif  // OFFCPU_OS_START_THREAD_H_
