// The names of Java methods, and the lines they were at: of a method that is interpreted by where its byte code is, of
// a compiled one by the scopes of the instruction, which lead from the innermost function that was inlined there
// outwards. Reads the process, some time after the stack was captured: every link is checked, and what does not fit
// has no name.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_METHODS_H_
#define OFFCPU_RUNTIMES_HOTSPOT_METHODS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/memory.h"
#include "runtimes/hotspot/code_cache.h"
#include "runtimes/hotspot/layout.h"
#include "runtimes/runtime.h"

namespace offcpu {

inline constexpr size_t kMaxSymbolBytes = 4096;     // of the name of a class, a method or a file; longer ones are cut
inline constexpr size_t kMaxInlined = 256;          // functions of one instruction
inline constexpr size_t kMaxPcDescBytes = 1 << 20;  // of one method
inline constexpr size_t kMaxLineEntries = 1 << 16;  // of one method

// Stands for what may be inlined in a compiled method at an instruction for which the virtual machine keeps no scope:
// one that was interrupted, or has called a function that never stops at a safepoint. The scopes before and behind it
// are often those of other functions.
inline constexpr std::string_view kJavaInlined = "[java: inlined functions not known]";

class Methods {
 public:
  Methods(const HotSpotLayout& layout, const Memory& memory) : layout_(layout), memory_(memory) {}

  // The function that an interpreter runs at the byte code `bcp`. Nothing: it is none of that method.
  std::optional<CodeLine> Interpreted(uint64_t method, uint64_t bcp) const;
  // Those of a method's blob where a call returns to `returns_to`, innermost first; 0: the blob was interrupted. Where
  // the virtual machine keeps no scope, they are kJavaInlined and the method. Empty: they are not known.
  std::vector<CodeLine> Compiled(const Blob& blob, uint64_t returns_to) const;

 private:
  // What a method is a part of.
  struct Parts {
    uint64_t const_method = 0;
    uint64_t constants = 0;
    uint64_t holder = 0;
  };

  // Nothing: there is no method.
  std::optional<Parts> PartsOf(uint64_t method) const;
  std::optional<CodeLine> LineOf(uint64_t method, std::optional<int64_t> bci) const;
  std::optional<std::string> SymbolAt(uint64_t symbol) const;
  std::optional<std::string> PoolSymbol(uint64_t constants, int64_t index) const;
  uint32_t LineNumber(uint64_t const_method, int64_t bci) const;
  // The offset of the scope at `pc`; 0: the blob has none there. Nothing: its table is damaged.
  std::optional<int64_t> ScopeAt(const Blob& blob, uint64_t pc) const;
  // The method of that scope, and those that it is inlined into.
  std::vector<CodeLine> ScopesFrom(const Blob& blob, int64_t scope) const;

  const HotSpotLayout& layout_;
  const Memory& memory_;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_METHODS_H_
