// A language runtime in a process: what it knows of the code that it has made and of the functions that it runs there.
// What it knows lies in the process's memory and goes away, so it is read soon after a stack was captured, and what is
// not there any more has no name. find_runtime.h finds out which runtime a process has.
//
// Threads: Read may block for ever and belongs on a reader thread; all else is for any thread. A runtime belongs to one
// process, and knows nothing of others.
#ifndef OFFCPU_RUNTIMES_RUNTIME_H_
#define OFFCPU_RUNTIMES_RUNTIME_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/code_object.h"
#include "process/memory.h"
#include "process/module.h"
#include "runtimes/interpreted_stack.h"
#include "unwind/made_code.h"

namespace offcpu {

// A function, and the place in its source.
struct CodeLine {
  std::string function;
  std::string file;   // "": not known
  uint32_t line = 0;  // 0: not known

  bool operator==(const CodeLine&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const CodeLine& of) {
    return H::combine(std::move(h), of.function, of.file, of.line);
  }
};

// What frames of a runtime's functions are in. Their addresses are numbers that the runtime has given them.
class RuntimeCode : public CodeObject {
 public:
  using CodeObject::CodeObject;

  // As OpenTelemetry's attribute profile.frame.type has it: "jvm".
  virtual std::string_view language() const = 0;
  // The functions of a frame, innermost first: each was inlined into the next. Empty: they are not known (yet).
  virtual std::vector<CodeLine> LinesAt(uint64_t address) const = 0;
};

// Null unless it is one.
inline const RuntimeCode* AsRuntimeCode(const CodeObject* code) {
  return code != nullptr && code->kind() == CodeKind::kRuntime ? static_cast<const RuntimeCode*>(code) : nullptr;
}

// One reading of what threads interpret in frames that lie outside of their stacks. What is read of memory that several
// of them share is read once, so it is for threads none of which runs from before the first reading to after the last.
// One thread, a reader thread; lives no longer than its runtime and the memory.
class InterpreterReading {
 public:
  virtual ~InterpreterReading() = default;

  // `tid`: of a thread of the process. Empty: it interprets nothing.
  virtual InterpretedStack Read(pid_t tid) = 0;
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  // Addresses of the process: the runtime's code lies there, as far as it may ever grow. They stay the same. Empty: it
  // makes none.
  virtual CodeRange bounds() const = 0;
  // Reads what `words` of captured stacks lead to, and the functions that walks have met since the last call: as far as
  // one call takes, and the next one goes on. False: the process cannot be read any more; what is known stays.
  virtual bool Read(const Memory& memory, std::span<const uint64_t> words) = 0;
  // Have walks met functions that have not been read?
  virtual bool HasUnread() const = 0;
  // For a walk of what was captured then, by CLOCK_MONOTONIC. Lives no longer than this. Null: it makes no code.
  virtual std::unique_ptr<MadeCode> CodeAt(uint64_t captured_ns) = 0;
  // Null: its functions have frames on the stack.
  virtual std::unique_ptr<InterpreterReading> ReadInterpreter(const Memory& memory) = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_RUNTIME_H_
