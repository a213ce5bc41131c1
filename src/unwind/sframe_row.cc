#include "unwind/sframe_row.h"

#include "unwind/apply.h"

namespace offcpu {
namespace {

bool FitOffset(int64_t from, int32_t* offset) {
  *offset = static_cast<int32_t>(from);
  return *offset == from;
}

bool ToCfaRule(const Machine& machine, const SFrameRule& from, CfaRule* rule) {
  rule->reg = static_cast<uint8_t>(from.reg);
  rule->deref = from.deref;
  return from.reg < machine.pc && FitOffset(from.offset, &rule->offset);
}

// Only for rules that there are.
bool ToValueRule(const Machine& machine, const SFrameRule& from, ValueRule* rule) {
  if (!FitOffset(from.offset, &rule->offset)) return false;
  if (from.base == SFrameRule::Base::kCfa) {
    rule->place = Place::kAtCfa;
    return true;
  }
  rule->reg = static_cast<uint8_t>(from.reg);
  rule->place = from.deref ? Place::kAtRegister : Place::kInRegister;
  return from.reg < machine.pc && (from.deref || from.offset == 0);
}

// A linker describes each of its PLTs by blocks, and a block is entered with nothing but a return address on the stack.
// GNU ld's row for .plt.got nevertheless says that there is a second word, for the whole of each block. That its other
// PLTs push something is said by a second row.
bool IsMistakenPltGot(const Machine& machine, const SFrameFunction& function, const SFrameRow& row) {
  return machine.call_pushes && function.block_size != 0 && function.rows == 1 && row.start == 0 &&
         row.cfa == SFrameRule{.base = SFrameRule::Base::kRegister, .deref = false, .reg = machine.sp, .offset = 16};
}

}  // namespace

FindOutcome ToRow(const SFrameHeader& header, const SFrameFunction& function, const SFrameRow& from, UnwindRow* row) {
  row->source = FrameSource::kSFrame;
  row->signal = function.signal;
  row->mangled_ra = from.mangled_ra;
  row->ra = {};
  row->fp = {};
  if (from.outermost) return FindOutcome::kFound;
  if (from.doubtful_ra) return FindOutcome::kExpression;
  const Machine& machine = *header.machine;
  if (!ToCfaRule(machine, from.cfa, &row->cfa)) return FindOutcome::kExpression;
  if (IsMistakenPltGot(machine, function, from)) row->cfa.offset = 8;
  if (from.ra.base == SFrameRule::Base::kNone) {  // not saved yet
    row->ra = {.offset = 0, .place = Place::kInRegister, .reg = machine.ra};
  } else if (!ToValueRule(machine, from.ra, &row->ra)) {
    return FindOutcome::kExpression;
  }
  if (from.fp.base == SFrameRule::Base::kNone) {
    row->fp.place = Place::kUnchanged;
  } else if (!ToValueRule(machine, from.fp, &row->fp)) {
    row->fp = {};  // unknown from there on
  }
  return FindOutcome::kFound;
}

UnwindRow RowlessRow(const SFrameHeader& header, const SFrameFunction& function) {
  UnwindRow row = function.signal ? KernelContextRow(*header.machine) : UnwindRow();  // else the outermost
  row.source = FrameSource::kSFrame;
  return row;
}

}  // namespace offcpu
