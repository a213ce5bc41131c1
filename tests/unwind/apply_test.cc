// Rows applied to a stack of sixteen words at kStack.
#include "unwind/apply.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0x7ffd00001000;
constexpr size_t kWords = 16;

class ApplyTest : public ::testing::Test {
 protected:
  ApplyTest() {
    registers.value[kRip] = 0x401000;
    registers.value[kRsp] = kStack;
    registers.value[kRbp] = kStack + 64;
    state = LeafState(registers, false, kX86_64);
  }
  uint64_t& word(size_t i) { return words[i]; }
  std::optional<EndReason> Step(const UnwindRow& row, bool more = false) {
    SpanMemory memory(kStack, std::as_bytes(std::span(words)));
    return Apply(row, {memory, kStack, kStack + sizeof(words), more}, &state);
  }
  // What a later step starts from.
  void MakeCaller() {
    state.full = false;
    state.source = FrameSource::kEhFrame;
  }

  std::array<uint64_t, kWords> words = {};
  Registers registers;
  FrameState state = {.machine = &kX86_64};
};

// CFA = reg + offset, RA at CFA - 8, FP unchanged: a function without a frame pointer.
UnwindRow Plain(int32_t offset, uint8_t reg = kRsp) {
  UnwindRow row;
  row.cfa = {.offset = offset, .addend = 0, .reg = reg, .deref = false};
  row.ra = {.offset = -8, .place = Place::kAtCfa, .reg = 0};
  row.fp = {.offset = 0, .place = Place::kUnchanged, .reg = 0};
  return row;
}

TEST_F(ApplyTest, PlainFrame) {
  word(2) = 0x402000;
  EXPECT_EQ(Step(Plain(24)), std::nullopt);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(state.lookup_pc(), 0x401fffu);
  EXPECT_EQ(state.sp, kStack + 24);
  EXPECT_EQ(state.fp, kStack + 64);
  EXPECT_FALSE(state.exact);
  EXPECT_FALSE(state.full);
  EXPECT_EQ(state.source, FrameSource::kEhFrame);
}

TEST_F(ApplyTest, SavedFramePointer) {
  UnwindRow row = Plain(24);
  row.fp = {.offset = -16, .place = Place::kAtCfa, .reg = 0};
  word(1) = kStack + 80;
  word(2) = 0x402000;
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_EQ(state.fp, kStack + 80);
  EXPECT_TRUE(state.fp_known);
}

TEST_F(ApplyTest, CfaByFramePointer) {
  word(9) = 0x402000;
  EXPECT_EQ(Step(Plain(16, kRbp)), std::nullopt);
  EXPECT_EQ(state.sp, kStack + 80);
}

// GCC's realigned frames: CFA = *(rbp - 8), FP = *(rbp).
TEST_F(ApplyTest, CfaInMemory) {
  UnwindRow row = Plain(-8, kRbp);
  row.cfa.deref = true;
  row.fp = {.offset = 0, .place = Place::kAtRegister, .reg = kRbp};
  word(7) = kStack + 96;
  word(8) = kStack + 120;
  word(11) = 0x402000;
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_EQ(state.sp, kStack + 96);
  EXPECT_EQ(state.fp, kStack + 120);
  EXPECT_EQ(state.pc, 0x402000u);
}

TEST_F(ApplyTest, CfaInMemoryWithAddend) {
  UnwindRow row = Plain(16);
  row.cfa.deref = true;
  row.cfa.addend = 8;
  word(2) = kStack + 40;
  word(5) = 0x402000;
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_EQ(state.sp, kStack + 48);
}

TEST_F(ApplyTest, Outermost) {
  UnwindRow row = Plain(8);
  row.ra.place = Place::kUndefined;
  EXPECT_EQ(Step(row), EndReason::kComplete);
  row = Plain(8);
  word(0) = 0;
  EXPECT_EQ(Step(row), EndReason::kComplete) << "return address 0";
}

TEST_F(ApplyTest, OutermostByGuess) {
  UnwindRow row = Plain(8);
  row.source = FrameSource::kFramePointer;
  EXPECT_EQ(Step(row), EndReason::kGuessedEnd);
  word(0) = 0x402000;
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_TRUE(state.guessed);
  EXPECT_EQ(Step(Plain(8)), EndReason::kGuessedEnd) << "a 0 by a table, in a frame that was guessed";
}

TEST_F(ApplyTest, TheStackOfANewProcess) {
  const auto begins = [this](uint64_t sp) {
    SpanMemory memory(kStack, std::as_bytes(std::span(words)));
    return BeginsProcessStack(kX86_64, {memory, kStack, kStack + sizeof(words)}, sp);
  };
  EXPECT_FALSE(begins(kStack)) << "no arguments";
  words = {1, kStack + 0x200, 0, kStack + 0x210, 0};  // one argument, one of the environment
  EXPECT_TRUE(begins(kStack));
  EXPECT_FALSE(begins(kStack + 8)) << "not aligned";
  words[1] = 0x401000;
  EXPECT_FALSE(begins(kStack)) << "not on the stack";
  words[1] = kStack + 0x200;
  words[2] = kStack + 0x208;
  EXPECT_FALSE(begins(kStack)) << "goes on";
  words[0] = 15;
  EXPECT_FALSE(begins(kStack)) << "behind the copy";
  words[0] = UINT64_MAX;
  EXPECT_FALSE(begins(kStack));
}

TEST_F(ApplyTest, CfaMustRise) {
  EXPECT_EQ(Step(Plain(0)), EndReason::kBadCfa);
  EXPECT_EQ(Step(Plain(-8)), EndReason::kBadCfa);
  EXPECT_EQ(Step(Plain(12)), EndReason::kBadCfa) << "not aligned";
}

// vfork keeps its return address in rdi while the parent waits.
TEST_F(ApplyTest, CfaMayStayWhereALeafHasItsReturnAddressInARegister) {
  UnwindRow row = Plain(0);
  row.ra = {.offset = 0, .place = Place::kInRegister, .reg = kRdi};
  registers.value[kRdi] = 0x402000;
  state = LeafState(registers, false, kX86_64);
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(state.sp, kStack);
  state.full = true;
  state.registers = registers;
  EXPECT_EQ(Step(row), EndReason::kBadCfa) << "but once";
}

TEST_F(ApplyTest, NothingWraps) {
  registers.value[kRbx] = UINT64_MAX - 7;
  state = LeafState(registers, false, kX86_64);
  EXPECT_EQ(Step(Plain(8, kRbx)), EndReason::kBadCfa);
  registers.value[kRbx] = 4;
  state = LeafState(registers, false, kX86_64);
  EXPECT_EQ(Step(Plain(-8, kRbx)), EndReason::kBadCfa);
  UnwindRow row = Plain(0, kRbx);
  row.cfa.deref = true;
  registers.value[kRbx] = UINT64_MAX - 7;
  state = LeafState(registers, false, kX86_64);
  EXPECT_EQ(Step(row), EndReason::kBadMemory);
}

TEST_F(ApplyTest, LastWordOfTheCopy) {
  word(15) = 0x402000;
  EXPECT_EQ(Step(Plain(128)), std::nullopt);
  EXPECT_EQ(state.sp, kStack + 128);
}

TEST_F(ApplyTest, AboveTheCopy) {
  EXPECT_EQ(Step(Plain(136), true), EndReason::kStackCopy);
  EXPECT_EQ(Step(Plain(136), false), EndReason::kBadCfa);
  UnwindRow row = Plain(128);
  row.cfa.deref = true;  // the word at the end
  EXPECT_EQ(Step(row, true), EndReason::kStackCopy);
  EXPECT_EQ(Step(row, false), EndReason::kBadMemory);
}

// Each word is right if it is read, so only where it is read from speaks against it.
TEST_F(ApplyTest, NothingIsReadFromBetweenTwoWords) {
  auto* bytes = reinterpret_cast<uint8_t*>(words.data());
  const auto put = [bytes](size_t at, uint64_t value) { std::memcpy(bytes + at, &value, sizeof(value)); };
  UnwindRow row = Plain(24);
  row.ra.offset = -5;
  put(19, 0x402000);
  EXPECT_EQ(Step(row), EndReason::kBadMemory) << "RA";
  row.ra = {.offset = 4, .place = Place::kAtRegister, .reg = kRsp};
  put(4, 0x402000);
  EXPECT_EQ(Step(row), EndReason::kBadMemory) << "RA, by a register";
  row = Plain(12);
  row.cfa.deref = true;
  put(12, kStack + 40);
  word(4) = 0x402000;
  EXPECT_EQ(Step(row), EndReason::kBadMemory) << "CFA";
  row = Plain(24);
  row.fp = {.offset = -20, .place = Place::kAtCfa, .reg = 0};
  put(4, kStack + 64);
  word(2) = 0x402000;
  EXPECT_EQ(Step(row), std::nullopt) << "FP, which nobody needs yet";
  EXPECT_FALSE(state.fp_known);
}

TEST_F(ApplyTest, StackAtTheEndOfTheAddressSpace) {
  constexpr uint64_t kEnd = UINT64_MAX - 7;
  constexpr uint64_t kBegin = kEnd - kWords * 8;
  const SpanMemory memory(kBegin, std::as_bytes(std::span(words)));
  word(15) = 0x402000;
  for (const bool more : {false, true}) {
    registers.value[kRsp] = kBegin;
    state = LeafState(registers, false, kX86_64);
    EXPECT_EQ(Apply(Plain(kWords * 8), {memory, kBegin, kEnd, more}, &state), std::nullopt);
    EXPECT_EQ(state.pc, 0x402000u);
    EXPECT_EQ(state.sp, kEnd);
    EXPECT_EQ(Apply(Plain(8), {memory, kBegin, kEnd, more}, &state), EndReason::kBadCfa) << "beyond all addresses";
    registers.value[kRsp] = kEnd;
    state = LeafState(registers, false, kX86_64);
    UnwindRow row = Plain(8);
    row.cfa.offset = 0;
    row.cfa.deref = true;
    EXPECT_NE(Apply(row, {memory, kBegin, kEnd, more}, &state), std::nullopt);
    EXPECT_NE(Apply(KernelContextRow(kX86_64), {memory, kBegin, kEnd, more}, &state), std::nullopt);
    EXPECT_FALSE(IsKernelContext({memory, kBegin, kEnd, more}, state));
  }
}

TEST_F(ApplyTest, BelowTheCopy) {
  UnwindRow row = Plain(8);
  row.ra.offset = -16;
  EXPECT_EQ(Step(row, true), EndReason::kBadMemory);
}

TEST_F(ApplyTest, LostFramePointerOnlyHurtsWhoNeedsIt) {
  UnwindRow row = Plain(8);
  row.fp = {.offset = 0x10000, .place = Place::kAtCfa, .reg = 0};
  word(0) = 0x402000;
  word(1) = 0x403000;
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_FALSE(state.fp_known);
  EXPECT_EQ(Step(Plain(8)), std::nullopt) << "this one does not";
  EXPECT_EQ(Step(Plain(16, kRbp)), EndReason::kRegisterUnknown);
}

TEST_F(ApplyTest, UndefinedFramePointer) {
  UnwindRow row = Plain(8);
  row.fp.place = Place::kUndefined;
  word(0) = 0x402000;
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_EQ(Step(Plain(16, kRbp)), EndReason::kRegisterUnknown);
}

TEST_F(ApplyTest, OtherRegistersOnlyWhereAllAreKnown) {
  registers.value[kR12] = kStack;
  state = LeafState(registers, false, kX86_64);
  word(0) = 0x402000;
  EXPECT_EQ(Step(Plain(8, kR12)), std::nullopt);
  EXPECT_EQ(Step(Plain(16, kR12)), EndReason::kRegisterUnknown);
}

TEST_F(ApplyTest, RbxIsKnownAsFarAsRowsSayWhereItIs) {
  registers.value[kRbx] = kStack + 16;
  state = LeafState(registers, false, kX86_64);
  UnwindRow row = Plain(8);
  row.extra.place = Place::kUnchanged;
  word(0) = 0x402000;
  word(1) = kStack + 24;
  word(2) = 0x403000;
  word(3) = 0x404000;
  EXPECT_EQ(Step(row), std::nullopt);
  row = Plain(8, kRbx);
  row.extra = {.offset = -16, .place = Place::kAtCfa, .reg = 0};
  EXPECT_EQ(Step(row), std::nullopt) << "as the leaf left it";
  EXPECT_EQ(state.pc, 0x403000u);
  EXPECT_EQ(Step(Plain(8, kRbx)), std::nullopt) << "as it was saved";
  EXPECT_EQ(state.pc, 0x404000u);
  EXPECT_EQ(Step(Plain(16, kRbx)), EndReason::kRegisterUnknown) << "Plain says nothing of it";
}

TEST_F(ApplyTest, SystemCallOverwritesRegisters) {
  for (uint8_t reg : {kRax, kRcx, kR11}) {
    registers.value[reg] = kStack;
    state = LeafState(registers, true, kX86_64);
    EXPECT_EQ(Step(Plain(8, reg)), EndReason::kRegisterUnknown) << int{reg};
    state = LeafState(registers, false, kX86_64);
    word(0) = 0x402000;
    EXPECT_EQ(Step(Plain(8, reg)), std::nullopt) << int{reg};
  }
}

TEST_F(ApplyTest, NoRuleOnThePcItself) {
  EXPECT_EQ(Step(Plain(8, kRip)), EndReason::kRegisterUnknown);
  EXPECT_EQ(Step(Plain(8, 255)), EndReason::kRegisterUnknown);
}

// A signal frame whose registers are found one by one: the pc is the interrupted instruction.
TEST_F(ApplyTest, SignalFrameByRules) {
  UnwindRow row = Plain(24);
  row.signal = true;
  word(2) = 0x402000;
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_TRUE(state.exact);
  EXPECT_EQ(state.lookup_pc(), 0x402000u);
  EXPECT_FALSE(state.full);
}

// The kernel's struct ucontext at sp, 22 words up to rip.
class KernelContextTest : public ::testing::Test {
 protected:
  KernelContextTest() {
    row.cfa = {.offset = 160, .addend = 0, .reg = kRsp, .deref = true};
    row.ra = {.offset = 168, .place = Place::kAtRegister, .reg = kRsp};
    row.fp = {.offset = 120, .place = Place::kAtRegister, .reg = kRsp};
    row.signal = true;
    // uc_flags, uc_link, uc_stack (3 words), then r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
    for (size_t i = 5; i < 22; ++i) words[i] = 0x1000 + i;
    words[20] = kStack + 200;
    Registers registers;
    registers.value[kRsp] = kStack;
    registers.value[kRip] = 0x401000;
    state = LeafState(registers, true, kX86_64);
    state.source = FrameSource::kEhFrame;
    state.full = false;
  }
  std::optional<EndReason> Step(uint64_t bytes = sizeof(words)) {
    SpanMemory memory(kStack, std::as_bytes(std::span(words)).first(bytes));
    return Apply(row, {memory, kStack, kStack + bytes, true}, &state);
  }
  std::array<uint64_t, 32> words = {};
  UnwindRow row;
  FrameState state = {.machine = &kX86_64};
};

TEST_F(KernelContextTest, AllRegistersAreKnown) {
  EXPECT_EQ(Step(), std::nullopt);
  EXPECT_EQ(state.source, FrameSource::kSignalTrampoline);
  EXPECT_TRUE(state.exact);
  EXPECT_TRUE(state.full);
  EXPECT_EQ(state.unknown, 0u);
  EXPECT_EQ(state.pc, 0x1015u);
  EXPECT_EQ(state.sp, kStack + 200);
  EXPECT_EQ(state.fp, 0x100fu);
  // Word numbers of struct sigcontext of the kernel's uapi headers.
  const std::array<uint64_t, 16> by_number = {0x1012, 0x1011, 0x1013, 0x1010, 0x100e, 0x100d, 0x100f, kStack + 200,
                                              0x1005, 0x1006, 0x1007, 0x1008, 0x1009, 0x100a, 0x100b, 0x100c};
  for (size_t i = 0; i < by_number.size(); ++i) EXPECT_EQ(state.registers.value[i], by_number[i]) << i;
}

// struct ucontext of the kernel's uapi headers: uc_flags, uc_link; at 184 cs, gs, fs and ss.
TEST_F(KernelContextTest, IsFoundByWhatIsAlikeInAll) {
  const auto found = [this](uint64_t flags, uint64_t link, uint64_t segments) {
    words[0] = flags;
    words[1] = link;
    words[23] = segments;
    SpanMemory memory(kStack, std::as_bytes(std::span(words)));
    bool result = false;
    EXPECT_EQ(FindKernelContext({memory, kStack, kStack + sizeof(words)}, state, &result), std::nullopt);
    return result;
  };
  EXPECT_TRUE(found(7, 0, 0x002b000000000033));
  EXPECT_TRUE(found(0, 0, 0x0000000000000033)) << "older kernels have no flags and no ss";
  EXPECT_FALSE(found(0x401000, 0, 0x002b000000000033));
  EXPECT_FALSE(found(7, 0x401000, 0x002b000000000033));
  EXPECT_FALSE(found(7, 0, 0));
  EXPECT_FALSE(found(7, 0, 0x00007ffd00001003)) << "an address";
}

TEST_F(KernelContextTest, IsNotKnownWithoutAllOfItsWords) {
  for (uint64_t count : {0, 1, 23}) {
    SpanMemory memory(kStack, std::as_bytes(std::span(words)));
    bool result = false;
    EXPECT_EQ(FindKernelContext({memory, kStack, kStack + count * 8, true}, state, &result), EndReason::kStackCopy);
    EXPECT_EQ(FindKernelContext({memory, kStack, kStack + count * 8}, state, &result), EndReason::kBadMemory);
  }
}

TEST_F(KernelContextTest, NotAllThere) { EXPECT_EQ(Step(168), EndReason::kStackCopy); }

// Wherever the interrupted stack is in the stack copy, the walk goes on. Elsewhere the interrupted instruction is
// known, and nothing behind it.
TEST_F(KernelContextTest, StackOfItsOwn) {
  for (const uint64_t sp : {kStack, kStack + 8}) {
    words[20] = sp;
    words[(sp - kStack) / 8] = 0x402000;
    FrameState before = state;
    EXPECT_EQ(Step(), std::nullopt);
    row = Plain(8);
    EXPECT_EQ(Step(), std::nullopt);
    EXPECT_EQ(state.pc, 0x402000u);
    state = before;
    row = KernelContextRow(kX86_64);
  }
  for (const uint64_t sp : {kStack - 8, kStack - 0x10000, kStack + kMaxStackCopyBytes + 8}) {
    words[20] = sp;
    FrameState before = state;
    EXPECT_EQ(Step(), std::nullopt);
    EXPECT_EQ(state.pc, 0x1015u);
    row = Plain(8);
    EXPECT_EQ(Step(), EndReason::kOtherStack);
    state = before;
    row = KernelContextRow(kX86_64);
  }
}

// It may be on the same one, as far as captures reach; then a larger one helps.
TEST_F(KernelContextTest, StackAboveTheCopy) {
  words[20] = kStack + kMaxStackCopyBytes;
  EXPECT_EQ(Step(), std::nullopt);
  row = Plain(8);
  EXPECT_EQ(Step(), EndReason::kStackCopy);
}

// Pieces of the stack beside the copy: behind a large frame, and of a stack that a handler has interrupted.
class PiecesTest : public ApplyTest {
 protected:
  static constexpr uint64_t kAbove = kStack + 0x100000;
  static constexpr uint64_t kOther = kStack - 0x100000;

  static StackPiece Piece(uint64_t begin, std::vector<uint64_t> piece_words, bool more, bool unread = false) {
    const auto bytes = std::as_bytes(std::span(piece_words));
    return {.begin = begin, .bytes = {bytes.begin(), bytes.end()}, .more = more, .unread = unread};
  }
  std::optional<EndReason> Step(const UnwindRow& row, bool more = true) {
    const SpanMemory memory(kStack, std::as_bytes(std::span(words)));
    return Apply(row,
                 {.memory = memory, .begin = kStack, .end = kStack + sizeof(words), .more = more, .pieces = pieces},
                 &state);
  }

  std::vector<StackPiece> pieces;
};

TEST_F(PiecesTest, BehindALargeFrame) {
  const UnwindRow large = Plain(0x100008);
  EXPECT_EQ(Step(large), EndReason::kStackCopy);
  EXPECT_EQ(state.needed, kAbove + 8);
  pieces = {Piece(kAbove - 8, {7, 0x402000, 8, 0x403000}, true)};
  EXPECT_EQ(Step(large), std::nullopt);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(state.sp, kAbove + 8);
  EXPECT_EQ(Step(Plain(16)), std::nullopt);
  EXPECT_EQ(state.pc, 0x403000u);
  EXPECT_EQ(state.sp, kAbove + 24) << "the end of the piece";
  FrameState before = state;
  EXPECT_EQ(Step(Plain(8)), EndReason::kStackCopy);
  EXPECT_EQ(state.needed, kAbove + 32);
  state = before;
  pieces[0].more = false;
  EXPECT_EQ(Step(Plain(8)), EndReason::kBadCfa) << "there is nothing more";
  state = before;
  pieces[0].unread = true;
  EXPECT_EQ(Step(Plain(8)), EndReason::kUnread);
}

// What a frame has saved may lie below the piece: then it is not known, and nobody guesses.
TEST_F(PiecesTest, RegistersSavedBelow) {
  UnwindRow large = Plain(0x100008);
  large.fp = {.offset = -0x800, .place = Place::kAtCfa, .reg = 0};
  pieces = {Piece(kAbove, {0x402000}, true)};
  EXPECT_EQ(Step(large), std::nullopt);
  EXPECT_FALSE(state.fp_known);
}

TEST_F(PiecesTest, OnAnotherStack) {
  state.sp = kOther;
  EXPECT_EQ(Step(Plain(8)), EndReason::kOtherStack);
  EXPECT_EQ(state.needed, kOther);
  pieces = {Piece(kOther, {0x402000, 0x403000}, true)};
  state.sp = kOther;
  EXPECT_EQ(Step(Plain(8)), std::nullopt);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(Step(Plain(8)), std::nullopt);
  EXPECT_EQ(state.pc, 0x403000u);
  EXPECT_EQ(Step(Plain(8)), EndReason::kStackCopy) << "no word of the copy, which is further up";
  EXPECT_EQ(state.needed, kOther + 24);
}

TEST_F(PiecesTest, AFramePointerInThem) {
  UnwindRow row = Plain(16, kRbp);
  row.fp = {.offset = -16, .place = Place::kAtCfa, .reg = 0};
  row.source = FrameSource::kFramePointer;
  state.fp = kAbove;
  EXPECT_EQ(Step(row), EndReason::kStackCopy);
  EXPECT_EQ(state.needed, kAbove + 16);
  EXPECT_TRUE(state.guessed);
  pieces = {Piece(kAbove, {kAbove + 0x80, 0x402000}, true)};
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_EQ(state.pc, 0x402000u);
  EXPECT_EQ(state.fp, kAbove + 0x80);
}

// As current kernels make all of them: ucontext, siginfo and, at a multiple of 64, the state of the floating point
// unit.
TEST_F(KernelContextTest, IsToldFromWhatOnlyLooksLikeIt) {
  const auto is_context = [this](size_t at, uint64_t value) {
    words[0] = 7;
    words[1] = 0;
    words[23] = 0x002b000000000033;
    words[28] = kStack + 448;  // uc_mcontext.fpstate
    words[at] = value;
    SpanMemory memory(kStack, std::as_bytes(std::span(words)));
    return IsKernelContext({memory, kStack, kStack + sizeof(words)}, state);
  };
  EXPECT_TRUE(is_context(0, 7));
  EXPECT_TRUE(is_context(0, 6)) << "no extended state";
  EXPECT_FALSE(is_context(0, 2));
  EXPECT_FALSE(is_context(0, 15));
  EXPECT_FALSE(is_context(1, kStack));
  EXPECT_FALSE(is_context(23, 0x33));
  EXPECT_FALSE(is_context(23, 0x002b000000000023)) << "32-bit code";
  EXPECT_FALSE(is_context(28, kStack + 512));
  EXPECT_FALSE(is_context(28, kStack + 384));
  EXPECT_FALSE(is_context(28, 0));
}

TEST_F(KernelContextTest, OnlyInASignalFrame) {
  row.signal = false;
  words[24] = 7;
  EXPECT_EQ(Step(), std::nullopt);
  EXPECT_FALSE(state.full);
  EXPECT_EQ(state.source, FrameSource::kEhFrame);
}

}  // namespace
}  // namespace offcpu
