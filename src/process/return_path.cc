#include "process/return_path.h"

#include <Zydis/Zydis.h>

#include <array>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace offcpu {
namespace {

constexpr int64_t kWord = 8;
constexpr int64_t kStackAlignment = 16;  // of the stack pointer at calls, by the ABI

// An address on the stack, by one of the registers as they are at the return address.
struct StackAddress {
  bool from_fp = false;
  int64_t offset = 0;
};

// What is known at one instruction.
struct WayState {
  size_t at = 0;
  StackAddress sp;
  bool fp_changed = false;               // to something that is not known
  std::optional<StackAddress> fp_saved;  // where the register has been restored from
};

struct Instruction {
  ZydisDecodedInstruction decoded;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;

  const ZydisDecodedOperand& operator[](size_t i) const { return operands[i]; }
};

ZydisDecoder MakeDecoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

bool IsRegister(const ZydisDecodedOperand& operand, ZydisRegister reg) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == reg;
}

bool Writes(const Instruction& instruction, ZydisRegister reg) {
  for (size_t i = 0; i < instruction.decoded.operand_count; ++i) {
    const ZydisDecodedOperand& operand = instruction[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
      continue;
    if (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) == reg) return true;
  }
  return false;
}

// Follows all ways from one return address.
class Ways {
 public:
  explicit Ways(std::span<const std::byte> code) : code_(code) {}

  ReturnPath Follow(size_t at) {
    pending_.push_back({.at = at});
    size_t steps = 0;
    while (!pending_.empty()) {
      WayState way = pending_.back();
      pending_.pop_back();
      while (seen_.insert(way.at).second && Step(&way)) {
        if (++steps == kMaxReturnSteps) return {};
      }
    }
    if (differ_) return {};
    if (!found_ && !is_unknown_) return {.kind = ReturnPath::Kind::kNeverReturns};
    return found_.value_or(ReturnPath());
  }

 private:
  // Goes on by one instruction; false: the way ends here.
  bool Step(WayState* way) {
    Instruction instruction;
    if (way->at >= code_.size() ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&Decoder(), code_.data() + way->at, code_.size() - way->at,
                                             &instruction.decoded, instruction.operands.data()))) {
      return Unknown();
    }
    const size_t begin = way->at;
    way->at += instruction.decoded.length;
    switch (instruction.decoded.meta.category) {
      case ZYDIS_CATEGORY_RET:
        return Return(instruction, *way);
      case ZYDIS_CATEGORY_UNCOND_BR:
        return Branch(instruction, begin, way);
      case ZYDIS_CATEGORY_COND_BR: {
        WayState taken = *way;
        if (!Branch(instruction, begin, &taken)) return false;
        pending_.push_back(taken);
        return true;
      }
      case ZYDIS_CATEGORY_CALL:
        return true;  // which leaves the stack pointer and the frame pointer as they are
      default:
        return StepOver(instruction, way);
    }
  }

  // What does not jump.
  bool StepOver(const Instruction& instruction, WayState* way) {
    switch (instruction.decoded.mnemonic) {
      case ZYDIS_MNEMONIC_HLT:
      case ZYDIS_MNEMONIC_INT3:
      case ZYDIS_MNEMONIC_UD0:
      case ZYDIS_MNEMONIC_UD1:
      case ZYDIS_MNEMONIC_UD2:
        return false;  // behind what does not return
      case ZYDIS_MNEMONIC_POP:
        return Pop(instruction, way);
      case ZYDIS_MNEMONIC_LEAVE:
        return Leave(way);
      default:
        return Compute(instruction, way);
    }
  }

  // What moves the stack pointer down begins another function, behind a call that does not return, or passes arguments.
  // Neither is a way that is followed.
  bool MoveStack(StackAddress to, WayState* way) const {
    way->sp = to;
    return to.from_fp || to.offset >= 0;
  }

  bool Pop(const Instruction& instruction, WayState* way) {
    if (instruction[0].size != 64 || IsRegister(instruction[0], ZYDIS_REGISTER_RSP)) return Unknown();
    if (IsRegister(instruction[0], ZYDIS_REGISTER_RBP)) way->fp_saved = way->sp;
    way->sp.offset += kWord;
    return true;
  }

  bool Leave(WayState* way) {
    if (way->fp_changed || way->fp_saved) return Unknown();
    way->fp_saved = StackAddress{.from_fp = true, .offset = 0};
    way->sp = {.from_fp = true, .offset = kWord};
    return true;
  }

  // What else may write to one of both registers.
  bool Compute(const Instruction& instruction, WayState* way) {
    const ZydisMnemonic mnemonic = instruction.decoded.mnemonic;
    const bool to_sp = IsRegister(instruction[0], ZYDIS_REGISTER_RSP);
    if (Writes(instruction, ZYDIS_REGISTER_RSP)) {
      if (instruction.decoded.meta.category == ZYDIS_CATEGORY_PUSH) return false;
      const bool adds = mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_SUB;
      if (to_sp && adds && instruction[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        const int64_t by = instruction[1].imm.value.s;
        StackAddress to = way->sp;
        to.offset += mnemonic == ZYDIS_MNEMONIC_ADD ? by : -by;
        return MoveStack(to, way);
      }
      std::optional<StackAddress> to;
      if (to_sp && mnemonic == ZYDIS_MNEMONIC_LEA) to = AddressOf(instruction[1], *way);
      const bool from_fp = IsRegister(instruction[1], ZYDIS_REGISTER_RBP);
      if (to_sp && mnemonic == ZYDIS_MNEMONIC_MOV && from_fp) to = FramePointer(*way);
      return to ? MoveStack(*to, way) : Unknown();
    }
    if (Writes(instruction, ZYDIS_REGISTER_RBP)) {
      std::optional<StackAddress> from;
      if (mnemonic == ZYDIS_MNEMONIC_MOV && instruction[0].size == 64) from = AddressOf(instruction[1], *way);
      way->fp_changed = way->fp_changed || !from;
      if (from) way->fp_saved = from;
    }
    return true;
  }

  static std::optional<StackAddress> FramePointer(const WayState& way) {
    if (way.fp_changed || way.fp_saved) return std::nullopt;
    return StackAddress{.from_fp = true, .offset = 0};
  }

  // The address of an operand in memory, if that is on the stack.
  static std::optional<StackAddress> AddressOf(const ZydisDecodedOperand& operand, const WayState& way) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE ||
        operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS) {
      return std::nullopt;
    }
    std::optional<StackAddress> base;
    if (operand.mem.base == ZYDIS_REGISTER_RSP) base = way.sp;
    if (operand.mem.base == ZYDIS_REGISTER_RBP) base = FramePointer(way);
    if (base) base->offset += operand.mem.disp.value;
    return base;
  }

  bool Branch(const Instruction& instruction, size_t begin, WayState* way) {
    const ZydisDecodedOperand& target = instruction[0];
    if (target.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !target.imm.is_relative) return Unknown();
    const int64_t to = static_cast<int64_t>(begin + instruction.decoded.length) + target.imm.value.s;
    if (to < 0 || to >= static_cast<int64_t>(code_.size())) return Unknown();
    way->at = static_cast<size_t>(to);
    return true;
  }

  // A way that comes to another function, behind a call that does not return, returns from that: so it pops nothing of
  // this one. And who has made a call has a frame, because the ABI says how the stack pointer is aligned there.
  bool Return(const Instruction& instruction, const WayState& way) {
    const bool is_plain = instruction.decoded.mnemonic == ZYDIS_MNEMONIC_RET;
    if (!is_plain || instruction.decoded.operand_count_visible != 0) return Unknown();
    const int64_t cfa = way.sp.offset + kWord;
    if (way.sp.from_fp ? cfa <= kWord : (way.sp.offset == 0 || cfa % kStackAlignment != 0)) return false;
    ReturnPath path = {.kind = ReturnPath::Kind::kReturns, .from_fp = way.sp.from_fp};
    if (cfa > std::numeric_limits<int32_t>::max()) return Unknown();
    path.cfa_offset = static_cast<int32_t>(cfa);
    if (way.fp_changed && !way.fp_saved) return Unknown();
    if (way.fp_saved) {
      const int64_t below = way.fp_saved->offset - cfa;
      if (way.fp_saved->from_fp != way.sp.from_fp || below >= 0 || below < std::numeric_limits<int32_t>::min())
        return Unknown();
      path.fp_offset = static_cast<int32_t>(below);
    }
    differ_ = differ_ || (found_ && *found_ != path);
    found_ = path;
    return false;
  }

  bool Unknown() {
    is_unknown_ = true;
    return false;
  }

  static const ZydisDecoder& Decoder() {
    static const ZydisDecoder decoder = MakeDecoder();
    return decoder;
  }

  const std::span<const std::byte> code_;
  std::vector<WayState> pending_;
  absl::flat_hash_set<size_t> seen_;  // where all ways have been
  std::optional<ReturnPath> found_;
  bool differ_ = false;
  bool is_unknown_ = false;  // where some way leads
};

}  // namespace

ReturnPath FollowReturn(std::span<const std::byte> code, size_t at) { return Ways(code).Follow(at); }

}  // namespace offcpu
