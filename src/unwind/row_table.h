// A table of a module that gives rows, prepared to be asked. One thread.
#ifndef OFFCPU_UNWIND_ROW_TABLE_H_
#define OFFCPU_UNWIND_ROW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "process/module.h"
#include "unwind/find_outcome.h"
#include "unwind/unwind_row.h"

namespace offcpu {

class RowTable {
 public:
  virtual ~RowTable() = default;

  // The row for the link-time `address`; unspecified unless kFound.
  virtual FindOutcome Find(uint64_t address, UnwindRow* row) = 0;
  // Does the code of a signal trampoline begin at `address`? Nothing if the address is not described.
  virtual std::optional<bool> BeginsSignalFrame(uint64_t address) const = 0;
  // The link-time addresses around `address` that are not described; empty if it is.
  virtual CodeRange HoleAt(uint64_t address) const = 0;
  // The bytes of code in all functions that it describes.
  virtual uint64_t DescribedBytes() const = 0;

  // Left out, or found to be damaged.
  virtual size_t bad_entries() const = 0;
  // What this holds.
  virtual size_t bytes() const = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_ROW_TABLE_H_
