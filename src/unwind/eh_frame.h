// Rows from an object's .eh_frame. libdw interprets the entries; since it trusts them, every entry that it may see has
// been checked first (eh_frame_index.h). One thread. Keeps a copy of the table.
#ifndef OFFCPU_UNWIND_EH_FRAME_H_
#define OFFCPU_UNWIND_EH_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "process/machine.h"
#include "process/module.h"
#include "unwind/row_table.h"

namespace offcpu {

class EhFrameTable final : public RowTable {
 public:
  // Null if the table is damaged as a whole. `header`: its .eh_frame_hdr, if it has one.
  static std::unique_ptr<EhFrameTable> Open(const ModuleTable& table, const Machine& machine,
                                            const ModuleTable& header = {});
  ~EhFrameTable() override;

  // The row is valid from `address`, not from an earlier one.
  FindOutcome Find(uint64_t address, UnwindRow* row) override;
  std::optional<bool> BeginsSignalFrame(uint64_t address) const override;
  CodeRange HoleAt(uint64_t address) const override;
  uint64_t DescribedBytes() const override;

  // Entries left out because they are damaged or of an unknown kind.
  size_t bad_entries() const override;
  // But what libdw keeps of each entry that was asked for: kBytesPerEntry at most, and about as much again of an entry
  // whose CIE no other one has.
  size_t bytes() const override;
  static constexpr size_t kBytesPerEntry = 256;
  // At most what Open takes for a table.
  static size_t Estimate(std::span<const std::byte> table, const ModuleTable& header = {});

 private:
  struct Impl;
  explicit EhFrameTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_EH_FRAME_H_
