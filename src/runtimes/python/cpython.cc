#include "runtimes/python/cpython.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "process/namespace_number.h"
#include "runtimes/paged_memory.h"
#include "runtimes/python/code_objects.h"
#include "runtimes/python/interpreted_frames.h"
#include "runtimes/python/threads.h"

namespace offcpu {
namespace {

// What one reading may take: 16 MiB of a process, in which a frame takes some 100 bytes.
constexpr PagedMemoryLimits kLimits = {.pages = 4096, .reads = 1u << 20};

class PythonReading final : public InterpreterReading {
 public:
  PythonReading(const PythonLayout& layout, const Memory& memory, PythonFunctions& functions)
      : layout_(layout), memory_(memory, kLimits), functions_(functions) {}

  InterpretedStack Read(pid_t tid) override {
    if (!is_listed_) threads_ = ReadPythonThreads(layout_, memory_);
    is_listed_ = true;
    const int32_t number = NamespaceNumber(tid);
    if (!threads_ || number == 0) return {.missing = kPythonNotRead};
    return ReadThread(static_cast<uint32_t>(number));
  }

 private:
  // In each of several interpreters it may have frames, whose order is not known.
  InterpretedStack ReadThread(uint64_t number) {
    InterpretedStack found;
    const auto [begin, end] = threads_->equal_range(number);
    for (auto thread = begin; thread != end; ++thread) {
      const std::optional<PythonFrames> frames = ReadPythonFrames(layout_, memory_, thread->second);
      if (!frames) return {.missing = kPythonNotRead};
      if (frames->runs.empty()) continue;
      if (!found.runs.empty()) return {.missing = kPythonInterpreters};
      found = Named(*frames);
      if (!found.missing.empty()) return found;
    }
    return found;
  }

  // Without the frames that have yet to begin: CPython itself shows none of these.
  InterpretedStack Named(const PythonFrames& frames) {
    InterpretedStack named;
    size_t next = 0;
    for (const InterpretedRun& run : frames.runs) {
      InterpretedRun& kept = named.runs.emplace_back(InterpretedRun{.at = run.at});
      for (size_t i = 0; i < run.frames; ++i, ++next) {
        const PythonFrame& frame = frames.frames[next];
        const std::optional<PythonCode>& code = CodeAt(frame.code);
        if (!code) return {.missing = kPythonNotRead};
        if (!frame.is_generator && frame.instruction < code->first_traced) continue;
        const std::optional<uint64_t> number = FunctionAt(*code, frame.instruction);
        if (!number) return {.missing = kPythonNotRead};
        named.frames.push_back({.code = &functions_,
                                .address = *number,
                                .source = FrameSource::kRuntime,
                                .kind = FrameKind::kInterpreted});
        ++kept.frames;
      }
    }
    return named;
  }

  const std::optional<PythonCode>& CodeAt(uint64_t address) {
    const auto [known, is_new] = codes_.try_emplace(address);
    if (is_new) known->second = ReadPythonCode(layout_, memory_, address);
    return known->second;
  }

  std::optional<uint64_t> FunctionAt(const PythonCode& code, uint64_t instruction) {
    const auto [known, is_new] = numbers_.try_emplace(std::pair(code.address, instruction));
    if (!is_new) return known->second;
    const std::optional<CodeLine> line = ReadPythonLine(layout_, memory_, code, instruction);
    if (line) known->second = functions_.Intern(*line);
    return known->second;
  }

  const PythonLayout& layout_;
  const PagedMemory memory_;
  PythonFunctions& functions_;
  bool is_listed_ = false;
  std::optional<PythonThreads> threads_;
  absl::flat_hash_map<uint64_t, std::optional<PythonCode>> codes_;
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, std::optional<uint64_t>> numbers_;
};

}  // namespace

std::unique_ptr<InterpreterReading> CPython::ReadInterpreter(const Memory& memory) {
  return std::make_unique<PythonReading>(layout_, memory, *functions_);
}

}  // namespace offcpu
