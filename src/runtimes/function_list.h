// The functions that a runtime's own table names, one after the other: those of a module, or those that a process has
// made. The seam between the tables that are known here and the search for names (src/symbolize), which keeps only what
// it looks for. Any bytes are safe to read. One thread; reads block as the file does.
#ifndef OFFCPU_RUNTIMES_FUNCTION_LIST_H_
#define OFFCPU_RUNTIMES_FUNCTION_LIST_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "process/memory.h"

namespace offcpu {

struct ListedFunction {
  uint64_t begin = 0;  // addresses as frames in this code have them
  uint64_t end = 0;
  uint64_t order = 0;  // where functions overlap, the highest has the address
  uint64_t name = 0;   // where its name begins in the names
};

// A name goes on to `end`.
struct FunctionNames {
  const Memory& memory;  // from 0 on
  uint64_t bytes = 0;
  char end = '\0';
};

class FunctionList {
 public:
  virtual ~FunctionList() = default;

  virtual void ForEach(absl::FunctionRef<void(const ListedFunction&)> use) const = 0;
  // Lives as long as this.
  virtual FunctionNames names() const = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_FUNCTION_LIST_H_
