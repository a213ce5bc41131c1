// Threads that wait for mutexes in a circle: each holds what the one before it waits for, so none can go on. A pure
// function.
#ifndef OFFCPU_TABLES_DEADLOCKS_H_
#define OFFCPU_TABLES_DEADLOCKS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace offcpu {

// A thread, and the one that holds the mutex that it waits for; 0: none, or not known.
struct LockWait {
  int32_t tid = 0;
  int32_t owner = 0;
};

// Each circle once, from one thread to the one that it waits for, and so on; it begins with the thread that comes first
// in `waits`. A thread that waits for a mutex of its own is a circle of one.
std::vector<std::vector<int32_t>> FindDeadlocks(std::span<const LockWait> waits);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_DEADLOCKS_H_
