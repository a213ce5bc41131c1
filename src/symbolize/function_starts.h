// Where functions begin, as the unwind tables of an ELF file say: a symbol that does not say how long it is does not
// reach over such a place. From the search table of .eh_frame_hdr, of which a few bytes are read for each question.
// Safe from any thread. Does not know where functions end.
#ifndef OFFCPU_SYMBOLIZE_FUNCTION_STARTS_H_
#define OFFCPU_SYMBOLIZE_FUNCTION_STARTS_H_

#include <cstdint>
#include <optional>

#include "process/elf/file.h"

namespace offcpu {

class FunctionStarts {
 public:
  // `elf` must outlive this. Without such a table, or with one in a form that no linker writes, nothing is known.
  explicit FunctionStarts(const ElfFile& elf);

  // The link-time address of the last function that begins at `address` or before it.
  std::optional<uint64_t> Before(uint64_t address) const;

 private:
  std::optional<uint64_t> At(uint64_t index) const;

  const Memory& memory_;
  uint64_t table_ = 0;    // offset of the first entry
  uint64_t address_ = 0;  // that entries are relative to
  uint64_t count_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_FUNCTION_STARTS_H_
