// What the code objects of CPython say: the function that one is of, and where in its source an instruction is. Each
// object that is read must have the type that it should have, so that memory that is none of the interpreter's, or is
// laid out in another way than is known, says nothing. Every length is bounded.
//
// One thread; blocks as the memory does. Needs the objects to stay while they are read, as a frame's do that does not
// run.
#ifndef OFFCPU_RUNTIMES_PYTHON_CODE_OBJECTS_H_
#define OFFCPU_RUNTIMES_PYTHON_CODE_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "process/memory.h"
#include "runtimes/python/layout.h"
#include "runtimes/runtime.h"

namespace offcpu {

inline constexpr size_t kMaxPythonNameBytes = 4096;  // of functions and files; longer ones are cut
inline constexpr size_t kMaxLineTableBytes = 1 << 20;

struct PythonCode {
  uint64_t address = 0;
  uint64_t begin = 0;  // of its instructions
  uint64_t end = 0;
  // Where a function begins that has been called; before, the frame is only being made.
  uint64_t first_traced = 0;
};

// Nothing: there is no code object.
std::optional<PythonCode> ReadPythonCode(const PythonLayout& layout, const Memory& memory, uint64_t address);

// `instruction`: the address of the one that the frame is at; one before the first is at the function's own line. A
// line that is not known is 0. Nothing: something of it is not what it should be.
std::optional<CodeLine> ReadPythonLine(const PythonLayout& layout, const Memory& memory, const PythonCode& code,
                                       uint64_t instruction);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_CODE_OBJECTS_H_
