// Rows from an object's .sframe section, Version 3: a search over the functions that it describes. The format itself is
// read by sframe_section.h. One thread. Refers to the bytes of the table, which must outlive it.
//
// Rows come with the register numbers of the table's ABI; those of s390x have no form in row.h.
#ifndef OFFCPU_UNWIND_SFRAME_H_
#define OFFCPU_UNWIND_SFRAME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "process/module.h"
#include "unwind/find_outcome.h"
#include "unwind/row.h"
#include "unwind/sframe_section.h"

namespace offcpu {

inline constexpr size_t kMaxSFrameFunctions = 2 << 20;
inline constexpr size_t kMaxSFrameSections = 1 << 18;
// Compilers make functions of up to some hundred rows, the format allows 65,535. Of those that have more than this,
// every so many rows are marked by the first look-up, so that no later one has to read more.
inline constexpr uint32_t kSFrameRowsPerMark = 64;

class SFrameTable {
 public:
  // `table`: a section, or several as lld puts them behind one another, each at a multiple of 8. `code`: what may be
  // executed. Fails if a header is damaged or of another ABI; Unimplemented for other versions. What is damaged in a
  // function costs that function.
  static absl::StatusOr<std::unique_ptr<SFrameTable>> Open(const ModuleTable& table, std::span<const CodeRange> code,
                                                           SFrameAbi abi = SFrameAbi::kAmd64);

  // The row for the link-time `address`; only kFound sets `row`.
  FindOutcome Find(uint64_t address, Row* row);
  // Does a signal trampoline begin at `address`? Nothing if no function is described there.
  std::optional<bool> BeginsSignalFrame(uint64_t address) const;

  // The link-time addresses around `address` that no function describes; empty if one describes it.
  CodeRange HoleAt(uint64_t address) const;

  // Those that describe anything, for dumps.
  std::span<const SFrameSection> sections() const { return sections_; }
  // Functions that can be found, the damaged ones too.
  size_t functions() const { return index_.size(); }
  // Damaged functions, and those left out: not within the code, or over code that another one describes.
  size_t bad_functions() const { return bad_functions_; }
  // What this holds besides the table. Grows with the marks that look-ups make.
  size_t bytes() const;
  // Rows read so far by Find.
  uint64_t rows_read() const { return rows_read_; }

 private:
  struct Entry {
    SFrameFunction function;
    uint32_t section = 0;  // of sections_
  };

  SFrameTable() = default;
  absl::Status AddSection(const SFrameSection& section, std::span<const CodeRange> code);
  void Sort();
  const Entry* EntryAt(uint64_t address) const;
  FindOutcome FindIn(const SFrameSection& section, const SFrameFunction& function, uint64_t address, Row* row);
  bool FpWasInFrame(const SFrameSection& section, const SFrameFunction& function, const Row& row);
  bool SkipTo(uint64_t start, const SFrameSection& section, const SFrameFunction& function, SFrameSection::Rows* rows);

  std::vector<SFrameSection> sections_;
  std::vector<Entry> index_;      // sorted, not overlapping, none empty
  std::vector<uint64_t> begins_;  // of the same functions: what is searched is small
  absl::flat_hash_map<uint64_t, std::vector<SFrameSection::Rows::Position>> marks_;  // by begin of the function
  size_t mark_bytes_ = 0;
  size_t bad_functions_ = 0;
  uint64_t rows_read_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_SFRAME_H_
