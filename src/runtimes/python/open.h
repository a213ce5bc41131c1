// Finds CPython by what a module of a process exports. Reads that module's file and the process, which may block for
// ever: it belongs on a reader thread.
#ifndef OFFCPU_RUNTIMES_PYTHON_OPEN_H_
#define OFFCPU_RUNTIMES_PYTHON_OPEN_H_

#include "runtimes/find_runtime.h"

namespace offcpu {

// kNone unless the file's name has "python" in it, and it exports the state of an interpreter.
FoundRuntime FindCPython(const MappedCode& code, const Memory& memory, MemoryLease room);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_OPEN_H_
