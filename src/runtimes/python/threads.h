// The threads that the interpreters of a CPython process know, by the lists that these have of them. A pure function of
// the memory, in which the lists may change meanwhile; blocks as that does. Takes every byte as hostile.
#ifndef OFFCPU_RUNTIMES_PYTHON_THREADS_H_
#define OFFCPU_RUNTIMES_PYTHON_THREADS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/btree_map.h"
#include "process/memory.h"
#include "runtimes/python/layout.h"

namespace offcpu {

inline constexpr size_t kMaxInterpreters = 256;
inline constexpr size_t kMaxPythonThreads = 1 << 16;

// Where the states of threads are, by the numbers that the threads know themselves by: one for each interpreter that a
// thread has been in.
using PythonThreads = absl::btree_multimap<uint64_t, uint64_t>;

// Nothing: the lists cannot be read, are too long, or have just changed so that they do not agree with themselves.
std::optional<PythonThreads> ReadPythonThreads(const PythonLayout& layout, const Memory& memory);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_THREADS_H_
