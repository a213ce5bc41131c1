#include "unwind/cfi_check.h"

#include <dwarf.h>
#include <elf.h>

#include "unwind/byte_reader.h"

namespace offcpu {
namespace {

// DW_CFA_AARCH64_negate_ra_state: from there on the return address is signed, or is not any more. DWARF for other
// machines has another meaning for it, or none.
constexpr uint8_t kNegateRaState = 0x2d;

void CheckRegister(ByteReader& in, uint64_t max_register, bool* ok) { *ok = *ok && in.TakeUleb() <= max_register; }

void SkipExpression(ByteReader& in, bool* ok) {
  const uint64_t size = in.TakeUleb();
  *ok = *ok && size <= kMaxCfiExpressionBytes;
  in.Skip(size);
}

// Passes over the operands of an instruction without operands in its first byte. False if it is not known or not sound.
// (A signed number is as long as the unsigned one of the same bytes.)
bool SkipOperands(uint8_t opcode, uint64_t max_register, ByteReader& in) {
  bool ok = true;
  switch (opcode) {
    case DW_CFA_nop:
      break;
    case DW_CFA_advance_loc1:
      in.Skip(1);
      break;
    case DW_CFA_advance_loc2:
      in.Skip(2);
      break;
    case DW_CFA_advance_loc4:
      in.Skip(4);
      break;
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_restore_extended:
    case DW_CFA_def_cfa_register:
      CheckRegister(in, max_register, &ok);
      break;
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_GNU_args_size:
      in.TakeUleb();
      break;
    case DW_CFA_register:
      CheckRegister(in, max_register, &ok);
      CheckRegister(in, max_register, &ok);
      break;
    case DW_CFA_offset_extended:
    case DW_CFA_offset_extended_sf:
    case DW_CFA_GNU_negative_offset_extended:
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
      CheckRegister(in, max_register, &ok);
      in.TakeUleb();
      break;
    case DW_CFA_def_cfa_expression:
      SkipExpression(in, &ok);
      break;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
      CheckRegister(in, max_register, &ok);
      SkipExpression(in, &ok);
      break;
    default:
      return false;
  }
  return ok && in.ok();
}

}  // namespace

bool CfiWellFormed(const Machine& machine, std::span<const std::byte> instructions, uint64_t max_register) {
  if (instructions.size() > kMaxCfiBytes) return false;
  ByteReader in(instructions);
  size_t remembered = 0;    // now
  size_t rememberings = 0;  // until now
  while (!in.empty()) {
    const uint8_t opcode = in.Take<uint8_t>();
    const uint64_t low_bits = opcode & 0x3fu;  // of three instructions, their operand
    switch (opcode & 0xc0) {
      case DW_CFA_advance_loc:
        continue;
      case DW_CFA_restore:
        if (low_bits > max_register) return false;
        continue;
      case DW_CFA_offset:
        in.TakeUleb();
        if (!in.ok() || low_bits > max_register) return false;
        continue;
      default:
        break;
    }
    if (opcode == kNegateRaState && machine.elf_machine == EM_AARCH64) continue;
    if (opcode == DW_CFA_remember_state) {
      if (++remembered > kMaxCfiRememberedStates || ++rememberings > kMaxCfiRememberings) return false;
    } else if (opcode == DW_CFA_restore_state) {
      if (remembered-- == 0) return false;
    } else if (!SkipOperands(opcode, max_register, in)) {
      return false;
    }
  }
  return true;
}

}  // namespace offcpu
