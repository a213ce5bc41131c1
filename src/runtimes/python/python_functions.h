// The functions, with their lines, that frames of one CPython process are in, each under a number that stays. What is
// at a code object's address changes, so a function is known by what was read of it, and equal ones have one number.
//
// Thread-safe.
#ifndef OFFCPU_RUNTIMES_PYTHON_PYTHON_FUNCTIONS_H_
#define OFFCPU_RUNTIMES_PYTHON_PYTHON_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "process/memory_budget.h"
#include "runtimes/runtime.h"

namespace offcpu {

inline constexpr size_t kMaxPythonFunctions = 1 << 17;  // of one process
inline constexpr std::string_view kPythonNoRoom = "[python: no room for the name]";

class PythonFunctions final : public RuntimeCode {
 public:
  // `room`: for all that it keeps.
  explicit PythonFunctions(MemoryLease room = {}) : RuntimeCode(CodeKind::kRuntime, "[python]") {
    memory = std::move(room);
  }

  // Stands for all those beyond the limit.
  static constexpr uint64_t kNoRoom = 0;
  uint64_t Intern(const CodeLine& line);

  std::string_view language() const override { return "cpython"; }
  std::vector<CodeLine> LinesAt(uint64_t number) const override;

 private:
  mutable std::mutex mutex_;  // guards what follows, and `memory`
  absl::node_hash_map<CodeLine, uint64_t> numbers_;
  std::vector<const CodeLine*> lines_;  // by number, from kNoRoom + 1 on
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PYTHON_PYTHON_FUNCTIONS_H_
