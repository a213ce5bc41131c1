// Rows from an object's .eh_frame. libdw interprets the entries; since it trusts them, every entry that it may see has
// been checked first (eh_frame_index.h). One thread. Keeps a copy of the table.
#ifndef OFFCPU_UNWIND_EH_FRAME_H_
#define OFFCPU_UNWIND_EH_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "process/module.h"
#include "unwind/row.h"

namespace offcpu {

// What asking a source for a row comes to.
enum class FindOutcome : uint8_t {
  kFound,
  kNotHere,     // try the next source
  kExpression,  // there is a rule, but a row cannot hold it: no other source may guess
  kCorrupt,     // what the source says of this address is damaged: no other source may guess
};

class EhFrameTable {
 public:
  // Null if the table is damaged as a whole.
  static std::unique_ptr<EhFrameTable> Open(const ModuleTable& table);
  ~EhFrameTable();

  // The row for the link-time `address`; only kFound sets `row`. It is valid from `address`, not from an earlier one.
  FindOutcome Find(uint64_t address, Row* row);

  // Entries left out because they are damaged or of an unknown kind.
  size_t bad_entries() const;
  // At most what this may come to hold.
  size_t bytes() const;

 private:
  struct Impl;
  explicit EhFrameTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_EH_FRAME_H_
