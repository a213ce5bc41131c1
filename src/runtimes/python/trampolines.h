// Memory that a process has filled with copies of one small function, as CPython does for `-X perf`: each Python
// function has a copy of its own, by which perf maps name it. What one copy says of its caller, all of them say.
//
// Reads the process; safe from any thread.
#ifndef OFFCPU_RUNTIMES_PYTHON_TRAMPOLINES_H_
#define OFFCPU_RUNTIMES_PYTHON_TRAMPOLINES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "process/address_space.h"
#include "process/code_reader.h"
#include "process/memory.h"

namespace offcpu {

inline constexpr uint64_t kMostCopiedBytes = 4 << 20;  // of one mapping
inline constexpr size_t kMostFunctionBytes = 64;

// The function, with what lies between two copies; empty if [begin, end) is anything else.
std::vector<std::byte> CopiedFunction(const Memory& memory, uint64_t begin, uint64_t end);

// Finds the code that is nothing but copies: MappedCode::copied. See CodeReader::read_made.
void FindTrampolines(const ReadProcess& process, std::vector<MappedCode>* code);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_TRAMPOLINES_H_
