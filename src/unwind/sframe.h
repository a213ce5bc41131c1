// Rows from an object's .sframe section, Version 3: a search over the functions that it describes. The format itself is
// read by sframe_section.h. One thread. Refers to the bytes of the table, which must outlive it.
//
// Rows come with the register numbers of the table's machine.
#ifndef OFFCPU_UNWIND_SFRAME_H_
#define OFFCPU_UNWIND_SFRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "process/module.h"
#include "unwind/row_table.h"
#include "unwind/sframe_section.h"

namespace offcpu {

inline constexpr size_t kMaxSFrameFunctions = 2 << 20;
inline constexpr size_t kMaxSFrameSections = 1 << 18;
// The first look-up in a function reads all of its rows, and later ones none. When they would become more than this,
// with one more for each function, all are forgotten. A function has 65,535 at most.
inline constexpr size_t kMaxSFramePrepared = 1 << 18;

class SFrameTable final : public RowTable {
 public:
  // `table`: a section, or several as lld puts them behind one another, each at a multiple of 8. `code`: what may be
  // executed. Fails if a header is damaged or of another machine; Unimplemented for what SFrameSection does not
  // read. What is damaged in a function costs that function.
  static absl::StatusOr<std::unique_ptr<SFrameTable>> Open(const ModuleTable& table, std::span<const CodeRange> code,
                                                           const Machine& machine);

  // At most what Open takes for a table.
  static size_t Estimate(const ModuleTable& table);

  FindOutcome Find(uint64_t address, UnwindRow* row) override;
  std::optional<bool> BeginsSignalFrame(uint64_t address) const override;
  CodeRange HoleAt(uint64_t address) const override;
  uint64_t DescribedBytes() const override;

  // Those that describe anything, for dumps.
  std::span<const SFrameSection> sections() const { return sections_; }
  // Functions that can be found, the damaged ones too.
  size_t functions() const { return index_.size(); }
  // Damaged functions, and those left out: not within the code, or over code that another one describes.
  size_t bad_entries() const override { return bad_entries_; }
  // What this holds besides the table. Grows with the functions that are asked for.
  size_t bytes() const override;
  // Rows read so far by Find.
  uint64_t rows_read() const { return rows_read_; }

 private:
  static constexpr uint32_t kNotPrepared = UINT32_MAX;
  struct Entry {
    SFrameFunction function;
    uint32_t section = 0;              // of sections_
    uint32_t prepared = kNotPrepared;  // where its rows begin in starts_ and prepared_
    uint32_t count = 0;                // of them
  };
  // What a row says, in the form that all sources share.
  struct Prepared {
    CfaRule cfa;
    ValueRule ra;
    ValueRule fp;
    bool mangled_ra = false;
    FindOutcome outcome = FindOutcome::kCorrupt;  // of who looks it up
  };

  SFrameTable() = default;
  absl::Status AddSection(const SFrameSection& section, std::span<const CodeRange> code);
  void Sort();
  const Entry* EntryAt(uint64_t address) const;
  void Prepare(Entry& entry);
  void Add(uint32_t start, FindOutcome outcome, const UnwindRow& row);
  FindOutcome FindIn(Entry& entry, uint64_t address, UnwindRow* row);

  std::vector<SFrameSection> sections_;
  std::vector<Entry> index_;      // sorted, not overlapping, none empty
  std::vector<uint64_t> begins_;  // of the same functions: what is searched is small
  // The rows of each function that has been asked for, and behind them a start where they end.
  std::vector<uint32_t> starts_;
  std::vector<Prepared> prepared_;
  size_t bad_entries_ = 0;
  uint64_t rows_read_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_SFRAME_H_
