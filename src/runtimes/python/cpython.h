// A CPython interpreter in a process, of a version whose layout is known (layout.h), in the program file or in a
// library: which functions its threads run, and where in their source. Needs no agent, no option and no help of the
// interpreter. It makes no code; `-X perf`, which does, has its own way (trampolines.h).
//
// What a thread runs is known while it does not run: then nothing else changes its frames, and these keep their code.
#ifndef OFFCPU_RUNTIMES_PYTHON_CPYTHON_H_
#define OFFCPU_RUNTIMES_PYTHON_CPYTHON_H_

#include <memory>
#include <span>
#include <string_view>

#include "process/memory.h"
#include "process/memory_budget.h"
#include "runtimes/python/layout.h"
#include "runtimes/python/python_functions.h"
#include "runtimes/runtime.h"

namespace offcpu {

// Why the functions of a thread are missing.
inline constexpr std::string_view kPythonVersion = "[python: version]";
inline constexpr std::string_view kPythonNotRead = "[python: not read]";
inline constexpr std::string_view kPythonInterpreters = "[python: several interpreters]";

class CPython final : public Runtime {
 public:
  // `room`: for all that is kept of it.
  explicit CPython(const PythonLayout& layout, MemoryLease room = {})
      : layout_(layout), functions_(std::make_shared<PythonFunctions>(std::move(room))) {}

  CodeRange bounds() const override { return {}; }
  bool Read(const Memory& /*memory*/, std::span<const uint64_t> /*words*/) override { return true; }
  bool HasUnread() const override { return false; }
  std::unique_ptr<MadeCode> CodeAt(uint64_t /*captured_ns*/) override { return nullptr; }
  std::unique_ptr<InterpreterReading> ReadInterpreter(const Memory& memory) override;

 private:
  const PythonLayout layout_;
  const std::shared_ptr<PythonFunctions> functions_;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_CPYTHON_H_
