// Runs work that may crash, hang, take all memory or be taken over by what it reads, in a child process that can do
// nothing but read files and write its result, and waits for it. For libraries that read the files of others. Safe from
// any thread; the work must not use locks that another thread may hold.
//
// The child runs as nobody if this process is root's, with no descriptors but those that it is given, may open files
// only to read them, and ends with the thread that waits. What it writes is to be taken as hostile.
#ifndef OFFCPU_OS_CONFINED_WORK_H_
#define OFFCPU_OS_CONFINED_WORK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace offcpu {

struct ConfinedLimits {
  size_t memory_bytes = 64u << 20;  // beside what this process has; mapped files do not count
  size_t result_bytes = 16u << 20;
  std::chrono::milliseconds time{5000};
};

enum class ConfinedEnd : uint8_t {
  kDone,     // the work has ended, or has crashed: its result says whether it is all there
  kLate,     // it took more time than it may
  kTooLong,  // it wrote more than it may
  kNoChild,  // the system gave no process, or it could not be confined
};

struct ConfinedResult {
  std::vector<char> bytes;  // as far as it came
  ConfinedEnd end = ConfinedEnd::kNoChild;
};

// Writes a piece of the result; the child ends if nobody reads it.
using ConfinedWriter = absl::FunctionRef<void(std::string_view piece)>;

// `files`: the descriptors that the work uses.
ConfinedResult RunConfined(const ConfinedLimits& limits, std::span<const int> files,
                           absl::FunctionRef<void(ConfinedWriter write)> work);

}  // namespace offcpu

#endif  // OFFCPU_OS_CONFINED_WORK_H_
