// The rule that leads from one frame to its caller, as a value. Rows from every source and of every machine have this
// one form.
//
// A row says whether its return address is signed, as AArch64's may be; apply.h takes the signature away. It says
// nothing about where it was looked up or how it is applied: see row_finder.h and apply.h.
#ifndef OFFCPU_UNWIND_UNWIND_ROW_H_
#define OFFCPU_UNWIND_UNWIND_ROW_H_

#include <cstdint>
#include <type_traits>

#include "process/machine.h"
#include "unwind/user_stack.h"

namespace offcpu {

// CFA = reg + offset, or *(reg + offset) + addend.
struct CfaRule {
  int32_t offset = 0;
  int32_t addend = 0;  // 0 unless `deref`
  uint8_t reg = 0;
  bool deref = false;

  bool operator==(const CfaRule&) const = default;
};

// Where the caller's value of a register is.
enum class Place : uint8_t {
  kUndefined,   // nowhere; of the return address: this is the outermost frame
  kUnchanged,   // still in the register; not for the return address
  kAtCfa,       // *(CFA + offset)
  kAtRegister,  // *(reg + offset)
  kInRegister,  // reg
};

struct ValueRule {
  int32_t offset = 0;
  Place place = Place::kUndefined;
  uint8_t reg = 0;

  bool operator==(const ValueRule&) const = default;
};

struct UnwindRow {
  uint64_t begin = 0;  // valid for the link-time addresses [begin, end)
  uint64_t end = 0;
  CfaRule cfa;
  ValueRule ra;
  ValueRule fp;
  ValueRule extra;          // of the machine's register of that name; only .eh_frame says where it is
  bool signal = false;      // a signal frame: the caller's pc is the interrupted instruction, not a return address
  bool mangled_ra = false;  // the return address is signed
  FrameSource source = FrameSource::kEhFrame;
  int8_t kept_sp = 0;  // in words from the frame pointer: where the caller's sp is kept; 0: it is the CFA

  bool operator==(const UnwindRow&) const = default;
};
static_assert(std::is_trivially_copyable_v<UnwindRow> && sizeof(UnwindRow) == 56);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_UNWIND_ROW_H_
