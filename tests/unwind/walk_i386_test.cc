// Walks made-up stacks of i386: words of four bytes, its registers, and signal frames as the kernel's vDSO describes
// them. tests/deep/i386_test.cc walks those of real programs.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unwind/cfi_bytes.h"
#include "unwind/walk.h"

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0xffb01000;
constexpr uint64_t kBase = 0x8000000;

// Link-time addresses.
constexpr uint64_t kPlain = 0x1000;       // CFA = esp + 8
constexpr uint64_t kByFrame = 0x1100;     // CFA = ebp + 8, ebp at CFA - 8
constexpr uint64_t kOutermost = 0x1200;   // eip undefined
constexpr uint64_t kTrampoline = 0x1301;  // of a signal handler, described from one byte before on
constexpr uint64_t kInterrupted = 0x1000;

class WalkI386Test : public ::testing::Test {
 protected:
  WalkI386Test() {
    CfiBytes cfi;
    // CFA = esp + 4, the return address, register 8, at CFA - 4; data alignment -4.
    const auto cie = [&cfi](std::string_view letters) {
      std::vector<uint8_t> body = {0, 0, 0, 0, 1};
      body.insert(body.end(), letters.begin(), letters.end());
      body.insert(body.end(), {0, 1, 0x7c, 8, 1, 0x1b, 0x0c, 4, 4, 0x88, 1});
      return cfi.Entry(body);
    };
    const size_t plain = cie("zR");
    cfi.Fde(plain, kPlain, 0x100, {0x0e, 8});
    cfi.Fde(plain, kByFrame, 0x100, {0x0c, 5, 8, 0x85, 2});
    cfi.Fde(plain, kOutermost, 0x100, {0x07, 8});
    // As arch/x86/entry/vdso/vdso32/sigreturn.S: the registers are where esp points, by expressions.
    cfi.Fde(cie("zRS"), kTrampoline - 1, 0x10,
            {0x0f, 4, 0x74, 0x9c, 0x01, 0x06,  // def_cfa_expression: *(esp + 156)
             0x10, 5, 3, 0x74, 0x98, 0x01,     // ebp: *(esp + 152)
             0x10, 8, 3, 0x74, 0xb8, 0x01});   // eip: *(esp + 184)
    auto module = std::make_shared<Module>();
    module->machine = &kI386;
    module->code = {{0x1000, 0x2000}};
    module->eh_frame = cfi.Table();
    code_.begin = kBase + 0x1000;
    code_.end = kBase + 0x2000;
    code_.bias = kBase;
    code_.module = module;
    module_ = std::move(module);
  }

  EndReason Walk(uint64_t pc, uint64_t fp = 0, const Machine& machine = kI386) {
    Registers registers;
    registers.value[machine.pc] = pc;
    registers.value[machine.sp] = kStack;
    registers.value[machine.fp] = fp;
    const SpanMemory memory(kStack, std::as_bytes(std::span(words_)));
    Walker walker(machine);
    walker.Walk(AddressSpace({code_}), registers, false, {memory, kStack, kStack + words_.size() * 4}, &stack_);
    needed_ = walker.needed().address;
    return stack_.end;
  }

  std::vector<uint64_t> addresses() const {
    std::vector<uint64_t> result;
    for (const Frame& frame : stack_.frames) result.push_back(frame.address);
    return result;
  }

  MappedCode code_;
  std::shared_ptr<Module> module_;
  std::vector<uint32_t> words_ = std::vector<uint32_t>(64);
  UserStack stack_;
  uint64_t needed_ = 0;
};

TEST_F(WalkI386Test, ByTables) {
  words_[1] = kBase + kByFrame + 1;
  words_[6] = kStack + 100;  // saved ebp
  words_[7] = kBase + kOutermost + 1;
  EXPECT_EQ(Walk(kBase + kPlain, kStack + 24), EndReason::kComplete) << Name(stack_.end);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, kByFrame + 1, kOutermost + 1}));
}

// The last word of the copy is one, and half of one is none.
TEST_F(WalkI386Test, ToTheLastWord) {
  words_.assign({0, kBase + kOutermost + 1});
  EXPECT_EQ(Walk(kBase + kPlain), EndReason::kComplete);
  words_.resize(1);
  EXPECT_EQ(Walk(kBase + kPlain), EndReason::kBadCfa);
}

TEST_F(WalkI386Test, ReturnAddressZero) { EXPECT_EQ(Walk(kBase + kPlain), EndReason::kComplete); }

TEST_F(WalkI386Test, ByFramePointers) {
  code_.module = nullptr;  // code that the program has made
  code_.bias = 0;
  words_[6] = kStack + 40;
  words_[7] = kBase + 0x1010;
  words_[10] = 0;
  words_[11] = kBase + 0x1020;
  EXPECT_EQ(Walk(kBase + 0x1000, kStack + 24), EndReason::kGuessedEnd) << Name(stack_.end);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kBase + 0x1000, kBase + 0x1010, kBase + 0x1020}));
}

class I386SignalTest : public WalkI386Test {
 protected:
  // A handler that has interrupted code whose stack was at `esp`.
  EndReason WalkInHandler(uint32_t esp) {
    constexpr size_t kSp = 2;  // of the trampoline, in words
    words_[1] = kBase + kTrampoline;
    words_[kSp + 152 / 4] = 0;                     // ebp
    words_[kSp + 156 / 4] = esp;                   // esp
    words_[kSp + 184 / 4] = kBase + kInterrupted;  // eip
    return Walk(kBase + kPlain);
  }
};

// From a handler through the trampoline to the interrupted instruction, and on.
TEST_F(I386SignalTest, OnTheSameStack) {
  words_[53] = kBase + kOutermost + 1;
  EXPECT_EQ(WalkInHandler(kStack + 52 * 4), EndReason::kComplete) << Name(stack_.end);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, kTrampoline, kInterrupted, kOutermost + 1}));
  EXPECT_TRUE(stack_.frames[2].exact) << "what was interrupted";
}

// A handler has a stack of its own, which may lie above that of what it has interrupted, or below it.
TEST_F(I386SignalTest, OnAStackOfItsOwn) {
  for (const uint32_t esp : {uint32_t{kStack - 0x100000}, uint32_t{kStack + 0x100000}}) {
    EXPECT_EQ(WalkInHandler(esp), EndReason::kOtherStack) << Name(stack_.end);
    EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, kTrampoline, kInterrupted}));
    EXPECT_EQ(needed_, esp);
  }
  EXPECT_EQ(WalkInHandler(kStack + 52 * 4 + 1), EndReason::kBadCfa) << "not of a word";
}

// A context that says that it was itself interrupted where it lies.
TEST_F(I386SignalTest, InterruptedForEver) {
  words_[2 + 184 / 4] = kBase + kInterrupted;
  EXPECT_EQ(WalkInHandler(kStack), EndReason::kFrameLimit);
  EXPECT_EQ(stack_.frames.size(), words_.size() + 2);
}

// Nothing of one machine's code says anything of a stack of another one.
TEST_F(WalkI386Test, CodeOfAnotherMachineHasNoRow) {
  words_[1] = kBase + kOutermost + 1;
  EXPECT_EQ(Walk(kBase + kPlain, 0, kX86_64), EndReason::kNoRow);
  EXPECT_EQ(stack_.frames.size(), 1u);
  module_->machine = &kX86_64;
  EXPECT_EQ(Walk(kBase + kPlain), EndReason::kNoRow);
  EXPECT_EQ(stack_.frames.size(), 1u);
}

}  // namespace
}  // namespace offcpu
