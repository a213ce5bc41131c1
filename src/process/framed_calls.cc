#include "process/framed_calls.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <optional>

namespace offcpu {
namespace {

// What the frame pointer is before an instruction. From better to worse, as far as a call is concerned.
enum class FramePointer : uint8_t {
  kUnseen,   // no way to the instruction is known yet
  kFrame,    // points to where the caller's is, below the return address
  kCallers,  // as it was at the call, and so is the stack pointer
  kPushed,   // likewise, but for the register itself, which is on top of the stack
  kMoved,    // as it was at the call, which the stack pointer is not
  kOther,    // not known
};

struct Decoded {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;

  const ZydisDecodedOperand& operator[](size_t i) const { return operands[i]; }
  ZydisMnemonic mnemonic() const { return instruction.mnemonic; }
  ZydisInstructionCategory category() const { return instruction.meta.category; }
};

bool IsRegister64(const ZydisDecodedOperand& operand, ZydisRegister reg) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == reg;
}

bool WritesTo(const Decoded& decoded, ZydisRegister reg) {
  for (size_t i = 0; i < decoded.instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = decoded[i];
    const bool is_written =
        operand.type == ZYDIS_OPERAND_TYPE_REGISTER && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (is_written && ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) == reg)
      return true;
  }
  return false;
}

// Padding between pieces of code.
bool IsPadding(const Decoded& decoded) {
  return decoded.mnemonic() == ZYDIS_MNEMONIC_NOP || decoded.mnemonic() == ZYDIS_MNEMONIC_INT3;
}

// What an instruction that neither calls nor jumps makes of it.
FramePointer After(const Decoded& decoded, FramePointer before) {
  if (WritesTo(decoded, ZYDIS_REGISTER_RBP)) {
    const bool is_set = decoded.mnemonic() == ZYDIS_MNEMONIC_MOV && IsRegister64(decoded[0], ZYDIS_REGISTER_RBP) &&
                        IsRegister64(decoded[1], ZYDIS_REGISTER_RSP);
    if (is_set) return before == FramePointer::kPushed ? FramePointer::kFrame : FramePointer::kOther;
    const bool is_popped = decoded.mnemonic() == ZYDIS_MNEMONIC_POP && IsRegister64(decoded[0], ZYDIS_REGISTER_RBP);
    if (before == FramePointer::kFrame && (is_popped || decoded.mnemonic() == ZYDIS_MNEMONIC_LEAVE))
      return FramePointer::kCallers;
    return before == FramePointer::kPushed && is_popped ? FramePointer::kCallers : FramePointer::kOther;
  }
  if (before == FramePointer::kFrame || before == FramePointer::kOther || !WritesTo(decoded, ZYDIS_REGISTER_RSP))
    return before;
  const bool is_pushed = decoded.mnemonic() == ZYDIS_MNEMONIC_PUSH && IsRegister64(decoded[0], ZYDIS_REGISTER_RBP);
  return before == FramePointer::kCallers && is_pushed ? FramePointer::kPushed : FramePointer::kMoved;
}

// Where two ways meet.
FramePointer Joined(FramePointer a, FramePointer b) {
  if (a == FramePointer::kUnseen || a == b) return b;
  if (b == FramePointer::kUnseen) return a;
  const bool has_frame = a == FramePointer::kFrame || b == FramePointer::kFrame;
  return has_frame ? FramePointer::kOther : std::max({a, b, FramePointer::kMoved});
}

// Follows all ways through one function.
class Function {
 public:
  // `left`: instructions that may still be decoded.
  Function(std::span<const std::byte> code, size_t* left)
      : code_(code), at_(code.size(), FramePointer::kUnseen), left_(left) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  bool HasFrameAtCalls() {
    Enter(0, FramePointer::kCallers);
    if (!Follow()) return false;
    // What is left is where tables of jumps lead to, and what handles exceptions, which calls throw: there is a frame
    // at both, unless a jump by a register has been seen without one. It may be one to another function.
    for (size_t at = 0; at < code_.size();) {
      Decoded decoded;
      if (!Decode(at, &decoded)) return false;
      if (at_[at] == FramePointer::kUnseen && !IsPadding(decoded)) {
        if (jumps_without_frame_) return false;
        Enter(at, FramePointer::kFrame);
        if (!Follow()) return false;
      }
      at += decoded.instruction.length;
    }
    return true;
  }

 private:
  bool Decode(size_t at, Decoded* decoded) const {
    if (*left_ == 0) return false;
    --*left_;
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + at, code_.size() - at, &decoded->instruction,
                                               decoded->operands.data()));
  }

  // Outside of the function is another one's affair.
  void Enter(size_t at, FramePointer state) {
    if (at >= code_.size()) return;
    const FramePointer joined = Joined(at_[at], state);
    if (joined == at_[at]) return;
    at_[at] = joined;
    pending_.push_back(at);
  }

  bool Follow() {
    while (!pending_.empty()) {
      const size_t at = pending_.back();
      pending_.pop_back();
      if (!Step(at)) return false;
    }
    return true;
  }

  bool Step(size_t at) {
    const FramePointer state = at_[at];
    Decoded decoded;
    if (!Decode(at, &decoded)) return false;
    const size_t next = at + decoded.instruction.length;
    switch (decoded.category()) {
      case ZYDIS_CATEGORY_CALL:
        if (state != FramePointer::kFrame) return false;
        break;
      case ZYDIS_CATEGORY_RET:
        return true;
      case ZYDIS_CATEGORY_UNCOND_BR:
        Jump(decoded, next, state);
        return true;
      case ZYDIS_CATEGORY_COND_BR:
        Jump(decoded, next, state);
        break;
      default:
        if (EndsWay(decoded)) return true;
    }
    const bool jumps = decoded.category() == ZYDIS_CATEGORY_CALL || decoded.category() == ZYDIS_CATEGORY_COND_BR;
    Enter(next, jumps ? state : After(decoded, state));
    return true;
  }

  static bool EndsWay(const Decoded& decoded) {
    switch (decoded.mnemonic()) {
      case ZYDIS_MNEMONIC_HLT:
      case ZYDIS_MNEMONIC_INT3:
      case ZYDIS_MNEMONIC_UD0:
      case ZYDIS_MNEMONIC_UD1:
      case ZYDIS_MNEMONIC_UD2:
        return true;
      default:
        return false;
    }
  }

  void Jump(const Decoded& decoded, size_t next, FramePointer state) {
    const ZydisDecodedOperand& target = decoded[0];
    if (target.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && target.imm.is_relative) {
      Enter(next + static_cast<uint64_t>(target.imm.value.s), state);
    } else {
      jumps_without_frame_ |= state != FramePointer::kFrame;
    }
  }

  const std::span<const std::byte> code_;
  ZydisDecoder decoder_;
  std::vector<FramePointer> at_;  // by offset
  std::vector<size_t> pending_;
  bool jumps_without_frame_ = false;  // to where nothing shows
  size_t* left_;
};

bool HasFrameAtCalls(std::span<const std::byte> function, size_t* left) {
  return function.size() <= kMaxFunctionBytes && Function(function, left).HasFrameAtCalls();
}

}  // namespace

bool HasFrameAtCalls(std::span<const std::byte> function) {
  size_t left = kMaxDecoded;
  return HasFrameAtCalls(function, &left);
}

std::vector<CodeRange> FramedFunctions(std::span<const std::byte> code, uint64_t address,
                                       std::span<const CodeRange> functions) {
  std::vector<CodeRange> framed;
  size_t left = kMaxDecoded;
  for (const CodeRange& function : functions) {
    if (function.begin < address || function.end <= function.begin || function.end - address > code.size()) continue;
    if (!HasFrameAtCalls(code.subspan(function.begin - address, function.end - function.begin), &left)) continue;
    if (!framed.empty() && framed.back().end == function.begin) {
      framed.back().end = function.end;
    } else {
      framed.push_back(function);
    }
  }
  return framed;
}

}  // namespace offcpu
