// Reads one SFrame section, Version 3, of x86-64 or AArch64, little-endian: header, functions and their rows as rules.
// The machine is what the section says. Every byte is taken as hostile: a header that does not fit is refused, a
// damaged function or row is named as such, and walking over all rows takes no more steps than the section has bytes.
//
// A view of the bytes, which must outlive it; safe from any thread. Does not look anything up (sframe.h), and knows
// nothing of the code that is described.
#ifndef OFFCPU_UNWIND_SFRAME_SECTION_H_
#define OFFCPU_UNWIND_SFRAME_SECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "process/machine.h"

namespace offcpu {

enum class SFrameVersion : uint8_t { kNone, kV1, kV2, kV3, kUnknown, kBigEndian };
// By the first bytes alone; kNone: no SFrame section begins here.
SFrameVersion SFrameVersionOf(std::span<const std::byte> bytes);

struct SFrameHeader {
  const Machine* machine = nullptr;  // never null in a section that is open
  bool sorted = false;               // as the section claims
  int8_t fixed_fp = 0;               // the caller's FP and RA are at the CFA plus this; 0: each row says where
  int8_t fixed_ra = 0;
  uint32_t functions = 0;
  uint32_t rows = 0;
  uint32_t row_bytes = 0;  // of the rows with the attributes of their functions
  uint64_t index_at = 0;   // offsets in the section
  uint64_t rows_at = 0;
};

struct SFrameFunction {
  uint64_t begin = 0;  // link-time address
  uint32_t size = 0;
  uint32_t rows_at = 0;    // offset of the first row among the bytes of the rows
  uint16_t rows = 0;       // 0: a signal trampoline that only the ABI describes, or else the outermost function
  uint8_t start_size = 0;  // bytes of a row's start: 1, 2 or 4
  uint8_t block_size = 0;  // not 0: equal blocks of so many bytes, and rows start within each
  bool flexible = false;
  bool signal = false;
  bool key_b = false;    // the key that signs return addresses
  bool damaged = false;  // nothing but begin and size is known

  bool operator==(const SFrameFunction&) const = default;
};

// base + offset, or what lies there; on the CFA always the latter.
struct SFrameRule {
  enum class Base : uint8_t { kNone, kCfa, kRegister };  // kNone: unchanged, or the row does not say

  Base base = Base::kNone;
  bool deref = false;
  uint32_t reg = 0;  // DWARF number, of kRegister
  int64_t offset = 0;

  bool operator==(const SFrameRule&) const = default;
};

// Complete in itself; holds until the next row of its function starts. RA and FP of the header are filled in.
struct SFrameRow {
  uint32_t start = 0;      // from the begin of the function, or of each block
  bool outermost = false;  // has no rules: the return address is undefined
  bool mangled_ra = false;
  // GNU as chooses the size of a flexible row's words without a look at the return address, whose offset it then cuts
  // to that size: 168 becomes -88 in glibc's setcontext. Set iff that may have happened.
  bool doubtful_ra = false;
  SFrameRule cfa;
  SFrameRule ra;
  SFrameRule fp;

  bool operator==(const SFrameRow&) const = default;
};

class SFrameSection {
 public:
  // Parses the section that `bytes` begins with; they may go on behind it. Unimplemented for other versions, and for
  // big-endian sections, such as those of s390x.
  static absl::StatusOr<SFrameSection> Parse(std::span<const std::byte> bytes, uint64_t address);

  const SFrameHeader& header() const { return header_; }
  uint64_t size() const { return header_.rows_at + header_.row_bytes; }

  // The function at `number` < header().functions of the index.
  SFrameFunction Function(uint32_t number) const;
  // All of them, in the order of the index. Where functions have more rows together than the section can hold, those
  // that come too late are damaged.
  void ForEach(absl::FunctionRef<void(uint32_t number, const SFrameFunction& function)> use) const;

  class Rows;

 private:
  template <typename T>
  T Get(uint64_t at) const;

  std::span<const std::byte> bytes_;
  uint64_t address_ = 0;
  SFrameHeader header_;
};

// The rows of one function, one after the other.
class SFrameSection::Rows {
 public:
  Rows(const SFrameSection& section, const SFrameFunction& function);

  // Nothing behind the last row, and from the first damaged one on.
  std::optional<SFrameRow> Next();
  bool damaged() const { return damaged_; }

 private:
  // What is before a row's words.
  struct Head {
    uint32_t start = 0;
    uint8_t info = 0;
    uint64_t words_at = 0;

    int count() const { return info >> 1 & 0xf; }
    int size_code() const { return info >> 5 & 0x3; }
    bool mangled_ra() const { return (info & 0x80) != 0; }
  };

  template <typename Start>
  bool TakeHead(Head* head);
  bool TakeAnyHead(Head* head);
  bool Take(SFrameRow* row);

  const SFrameSection& section_;
  const SFrameFunction& function_;
  uint64_t at_ = 0;     // in the section, of the next row
  uint32_t left_ = 0;   // from it on
  uint32_t start_ = 0;  // that it may not start before
  bool damaged_ = false;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_SFRAME_SECTION_H_
