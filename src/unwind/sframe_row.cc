#include "unwind/sframe_row.h"

#include "process/registers.h"
#include "unwind/aarch64.h"
#include "unwind/apply.h"

namespace offcpu {
namespace {

bool FitOffset(int64_t from, int32_t* offset) {
  *offset = static_cast<int32_t>(from);
  return *offset == from;
}

// The registers that a row may name.
bool KnownRegister(SFrameAbi abi, uint32_t reg) { return abi == SFrameAbi::kAmd64 ? reg < kRip : reg <= kAArch64Sp; }

bool ToCfaRule(SFrameAbi abi, const SFrameRule& from, CfaRule* rule) {
  rule->reg = static_cast<uint8_t>(from.reg);
  rule->deref = from.deref;
  return KnownRegister(abi, from.reg) && FitOffset(from.offset, &rule->offset);
}

// Only for rules that there are.
bool ToValueRule(SFrameAbi abi, const SFrameRule& from, ValueRule* rule) {
  if (!FitOffset(from.offset, &rule->offset)) return false;
  if (from.base == SFrameRule::Base::kCfa) {
    rule->place = Place::kAtCfa;
    return true;
  }
  rule->reg = static_cast<uint8_t>(from.reg);
  rule->place = from.deref ? Place::kAtRegister : Place::kInRegister;
  return KnownRegister(abi, from.reg) && (from.deref || from.offset == 0);
}

// A linker describes each of its PLTs by blocks, and a block is entered with nothing but a return address on the stack.
// GNU ld's row for .plt.got nevertheless says that there is a second word, for the whole of each block. That its other
// PLTs push something is said by a second row.
bool IsMistakenPltGot(const SFrameFunction& function, const SFrameRow& row) {
  return function.block_size != 0 && function.rows == 1 && row.start == 0 &&
         row.cfa == SFrameRule{.base = SFrameRule::Base::kRegister, .deref = false, .reg = kRsp, .offset = 16};
}

}  // namespace

FindOutcome ToRow(const SFrameHeader& header, const SFrameFunction& function, const SFrameRow& from, Row* row) {
  row->source = FrameSource::kSFrame;
  row->signal = function.signal;
  row->mangled_ra = from.mangled_ra;
  row->ra = {};
  row->fp = {};
  if (from.outermost) return FindOutcome::kFound;
  if (header.abi == SFrameAbi::kS390x || from.doubtful_ra) return FindOutcome::kExpression;
  if (!ToCfaRule(header.abi, from.cfa, &row->cfa)) return FindOutcome::kExpression;
  if (header.abi == SFrameAbi::kAmd64 && IsMistakenPltGot(function, from)) row->cfa.offset = 8;
  if (from.ra.base == SFrameRule::Base::kNone) {  // of AArch64: not saved yet
    row->ra = {.offset = 0, .place = Place::kInRegister, .reg = kAArch64Lr};
  } else if (!ToValueRule(header.abi, from.ra, &row->ra)) {
    return FindOutcome::kExpression;
  }
  if (from.fp.base == SFrameRule::Base::kNone) {
    row->fp.place = Place::kUnchanged;
  } else if (!ToValueRule(header.abi, from.fp, &row->fp)) {
    row->fp = {};  // unknown from there on
  }
  return FindOutcome::kFound;
}

FindOutcome ToRow(const SFrameHeader& header, const SFrameFunction& function, Row* row) {
  if (header.abi == SFrameAbi::kS390x) return FindOutcome::kExpression;
  if (function.signal) {
    *row = header.abi == SFrameAbi::kAmd64 ? kKernelContextRow : kAArch64ContextRow;
  } else {
    *row = Row();  // the outermost
  }
  row->source = FrameSource::kSFrame;
  return FindOutcome::kFound;
}

}  // namespace offcpu
