// The function table that Go's runtime needs (.gopclntab): it is there even where a program was stripped. Versions 1.16
// to the newest; the layout is that of cmd/link's pclntab.go and runtime's symtab.go. It is not copied: what is asked
// for is read, since a large program's has more than a hundred MiB. Any bytes are safe to read.
#ifndef OFFCPU_RUNTIMES_GO_TABLE_H_
#define OFFCPU_RUNTIMES_GO_TABLE_H_

#include <cstdint>
#include <optional>

#include "process/elf/file.h"
#include "process/memory.h"

namespace offcpu {

inline constexpr uint64_t kMaxGoTableBytes = 512 << 20;  // a larger one is not read

// Where a file has the table, and the code that it is about.
struct GoSections {
  const ElfSection* table = nullptr;
  const ElfSection* text = nullptr;

  bool is_too_large() const { return table->size > kMaxGoTableBytes; }
};

// Nothing if it has either not.
std::optional<GoSections> FindGoSections(const ElfFile& file);

class GoTable {
 public:
  struct Function {
    uint64_t begin = 0;  // link-time addresses
    uint64_t end = 0;
    uint64_t name = 0;    // offset in the table
    uint64_t depths = 0;  // the same, of its pc table of how deep the stack is; 0: it has none
  };

  // The first `bytes` of `memory`, which must outlive it. Nothing if they are no table of a version that is known.
  // `text_address`: of the code if the table does not say.
  static std::optional<GoTable> Open(const Memory& memory, uint64_t bytes, uint64_t text_address);

  uint64_t functions() const { return functions_; }
  // At `index` < functions(). Nothing if it is damaged.
  std::optional<Function> FunctionAt(uint64_t index) const;

 private:
  GoTable(const Memory& memory, uint64_t bytes) : memory_(&memory), bytes_(bytes) {}

  template <typename T>
  std::optional<T> At(uint64_t offset) const {
    if (offset > bytes_ || bytes_ - offset < sizeof(T)) return std::nullopt;
    return memory_->ReadValue<T>(offset);
  }
  std::optional<uint64_t> WordAt(uint64_t offset) const;

  const Memory* memory_;
  uint64_t bytes_ = 0;
  uint64_t functions_ = 0;
  uint64_t text_ = 0;       // what entries are relative to
  uint64_t names_ = 0;      // offset in the table, as what follows
  uint64_t pc_tables_ = 0;  // what offsets of pc tables are relative to
  uint64_t records_ = 0;    // of the table of functions, and what offsets of records are relative to
  uint64_t entry_bytes_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_GO_TABLE_H_
