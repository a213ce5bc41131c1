// Stacks of a made-up Java virtual machine: C++ that waits, called by Java, called by C++.
#include "runtimes/hotspot/hotspot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "process/address_space.h"
#include "tests/runtimes/fake_vm.h"
#include "tests/unwind/cfi_bytes.h"
#include "unwind/walk.h"

namespace offcpu {
namespace {

using testing::ElementsAre;

constexpr uint64_t kStack = 0x7ffd00001000;
constexpr uint64_t kNative = 0x400000;
constexpr uint64_t kWait = kNative + 0x1010;       // CFA = rsp + 16
constexpr uint64_t kOutermost = kNative + 0x1210;  // RA undefined

uint64_t now_ns;  // of the virtual machine's reader

class HotSpotWalk : public ::testing::TestWithParam<int> {
 protected:
  HotSpotWalk() {
    now_ns = 1000;
    CfiBytes cfi;
    const size_t cie = cfi.Cie();
    cfi.Fde(cie, 0x1000, 0x100, {0x0e, 16});
    cfi.Fde(cie, 0x1200, 0x100, {0x07, 16});
    auto native = std::make_shared<Module>();
    native->code = {{0x1000, 0x1300}};
    native->eh_frame = cfi.Table();
    native_ = native;
    method_ = vm_.AddMethod({.lines = {0 << 3 | 5, 0}});
    caller_ = vm_.AddMethod({.name = "serve", .lines = {0 << 3 | 6, 0}});
    interpreter_ = vm_.AddBlob({.name = "Interpreter", .frame_words = 0, .code_bytes = 4096});
    AddCompiled(/*compile_id=*/7);
  }

  void AddCompiled(int32_t compile_id, int32_t frame_words = 4) {
    if (segment_ == 0) segment_ = vm_.next_segment();
    const uint8_t add = GetParam() >= 20 ? 1 : 0;
    const auto u5 = [add](uint8_t value) { return static_cast<uint8_t>(value + add); };
    compiled_ = vm_.AddBlobAt(segment_, {.frame_words = frame_words,
                                         .compile_id = compile_id,
                                         .method = method_,
                                         .pcs = {{0x20, 1}},
                                         .scopes = {0, u5(0), u5(1), u5(1)},
                                         .metadata = {method_}});
  }

  std::shared_ptr<HotSpot> Open() {
    absl::StatusOr<std::shared_ptr<HotSpot>> opened = HotSpot::Open(vm_.memory(), vm_.symbols(), [] { return now_ns; });
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *opened;
  }

  void Word(size_t index, uint64_t value) {
    if (stack_.size() < (index + 1) * 8) stack_.resize((index + 1) * 8);
    std::memcpy(stack_.data() + index * 8, &value, sizeof(value));
  }
  static uint64_t At(size_t index) { return kStack + index * 8; }

  // kWait, called by the compiled method, called by the interpreted one, called by call_stub, called by kOutermost.
  void MakeStack(uint64_t compiled_pc) {
    Word(1, compiled_pc);
    // The compiled frame: words 2 to 5.
    Word(4, At(20));  // the interpreted caller's frame pointer
    Word(5, interpreter_ + 0x100);
    // The interpreted frame, whose frame pointer is at word 20: its caller has the stack pointer where word 25 is.
    Word(20 - 8, vm_.BytecodeOf(caller_) + 3);
    Word(20 - 3, caller_);
    Word(20 - 1, At(25));
    Word(20, At(40));
    Word(21, FakeVm::kCallStubReturn);
    // call_stub's: at word 40.
    Word(40, 0);
    Word(41, kOutermost);
    Word(60, 0);
  }

  UserStack Walk(HotSpot& vm, uint64_t captured_ns, uint64_t pc = kWait, WalkTrace* trace = nullptr) {
    MappedCode native;
    native.begin = kNative + 0x1000;
    native.end = kNative + 0x1300;
    native.module = native_;
    native.bias = kNative;
    MappedCode made;
    made.begin = FakeVm::kCodeLow;
    made.end = FakeVm::kCodeHigh;
    const AddressSpace space({made, native});
    Registers registers;
    registers.value[kRip] = pc;
    registers.value[kRsp] = kStack;
    registers.value[kRbp] = At(20);
    const SpanMemory memory(kStack, stack_);
    Walker walker(kX86_64);
    UserStack stack;
    const std::unique_ptr<MadeCode> code = vm.CodeAt(captured_ns);
    walker.Walk(space, registers, /*in_syscall=*/true,
                {.memory = memory, .begin = kStack, .end = kStack + stack_.size()}, &stack, trace, code.get());
    return stack;
  }

  // The functions of the frames that are the virtual machine's, as they are known now.
  std::vector<std::string> NamesOf(const UserStack& stack) {
    std::vector<std::string> names;
    for (const Frame& frame : stack.frames) {
      const RuntimeCode* code = AsRuntimeCode(frame.code);
      if (code == nullptr) continue;
      for (const CodeLine& line : code->LinesAt(frame.address))
        names.push_back(line.function + ":" + std::to_string(line.line));
    }
    return names;
  }

  FakeVm vm_{GetParam()};
  std::shared_ptr<const Module> native_;
  uint64_t method_ = 0, caller_ = 0;
  uint64_t interpreter_ = 0, compiled_ = 0;
  uint64_t segment_ = 0;
  std::vector<std::byte> stack_;
};
INSTANTIATE_TEST_SUITE_P(Jdk, HotSpotWalk, testing::Values(17, 25));

TEST_P(HotSpotWalk, JavaBetweenNativeFramesIsWholeAndNamed) {
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  now_ns = 3000;
  vm->Read(vm_.memory(), std::vector<uint64_t>{compiled_ + 0x20, interpreter_ + 0x100, FakeVm::kCallStubReturn});
  const UserStack stack = Walk(*vm, /*captured_ns=*/2000);
  EXPECT_EQ(stack.end, EndReason::kComplete);
  ASSERT_EQ(stack.frames.size(), 5u);
  EXPECT_EQ(stack.frames[0].code, native_.get());
  EXPECT_EQ(stack.frames[1].kind, FrameKind::kGenerated);
  EXPECT_EQ(stack.frames[1].source, FrameSource::kEhFrame);  // the row that led there
  EXPECT_EQ(stack.frames[2].kind, FrameKind::kInterpreted);
  EXPECT_EQ(stack.frames[2].source, FrameSource::kRuntime);
  EXPECT_EQ(stack.frames[4].code, native_.get());
  EXPECT_TRUE(vm->HasUnread());
  vm->Read(vm_.memory(), {});
  EXPECT_FALSE(vm->HasUnread());
  EXPECT_THAT(NamesOf(stack), ElementsAre("com.shop.Inventory.reserve:5", "com.shop.Inventory.serve:6", "call_stub:0"));
}

// Two stacks that differ in what is interpreted have the same addresses: words of the frame tell them apart.
TEST_P(HotSpotWalk, WalkThroughProvenCodeIsOneThatBpfProgramsMayMake) {
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  WalkTrace trace, other;
  Walk(*vm, 1000, kWait, &trace);
  EXPECT_TRUE(trace.is_fixed);
  EXPECT_TRUE(trace.is_followable);
  ASSERT_EQ(trace.made.size(), 3u);
  EXPECT_EQ(trace.made[0].step, 1u);
  EXPECT_EQ(trace.made[0].stamp.behind, 7u);
  EXPECT_EQ(trace.made[0].shown, ShownWords());
  EXPECT_EQ(trace.made[1].shown, (ShownWords{8, 3}));
  EXPECT_EQ(trace.made[1].shown_values, (std::array<uint64_t, 2>{vm_.BytecodeOf(caller_) + 3, caller_}));
  Word(20 - 8, vm_.BytecodeOf(caller_) + 4);
  Walk(*vm, 1000, kWait, &other);
  EXPECT_EQ(trace.pcs, other.pcs);
  EXPECT_EQ(other.made[1].shown_values, (std::array<uint64_t, 2>{vm_.BytecodeOf(caller_) + 4, caller_}));
}

// Stacks that were walked before keep theirs.
TEST_P(HotSpotWalk, FunctionsBeyondTheLimitAreInAnotherList) {
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  const UserStack before = Walk(*vm, 1000);
  vm->Read(vm_.memory(), {});
  const std::vector<std::string> names = NamesOf(before);
  {
    FrameState state = {.machine = &kX86_64};
    state.machine = &kX86_64;
    state.pc = interpreter_ + 0x100;
    state.fp = At(20);
    state.exact = false;
    const std::unique_ptr<MadeCode> code = vm->CodeAt(1000);
    for (uint64_t bcp = 0; bcp < kMaxJavaFunctions; ++bcp) {
      Word(20 - 8, bcp);
      const SpanMemory memory(kStack, stack_);
      code->Find(state, {.memory = memory, .begin = kStack, .end = kStack + stack_.size()});
    }
  }
  vm->Read(vm_.memory(), {});
  MakeStack(compiled_ + 0x20);
  const UserStack after = Walk(*vm, 1000);
  vm->Read(vm_.memory(), {});
  EXPECT_NE(after.frames[1].code, before.frames[1].code);
  EXPECT_EQ(NamesOf(after), names);
  EXPECT_EQ(NamesOf(before), names);
}

TEST_P(HotSpotWalk, WalkOfWhichMoreHasDecidedIsNoneThatBpfProgramsMayMake) {
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  const auto expect_none = [&](uint64_t captured_ns, uint64_t pc, const char* why) {
    WalkTrace trace;
    Walk(*vm, captured_ns, pc, &trace);
    EXPECT_FALSE(trace.is_fixed) << why;
    EXPECT_FALSE(trace.is_followable) << why;
  };
  MakeStack(compiled_ + 0x20);
  expect_none(999, kWait, "the code was read on one side only");
  expect_none(1000, compiled_ + 16, "code was interrupted");
  MakeStack(compiled_ + 0x80);
  expect_none(1000, kWait, "a deoptimized frame keeps elsewhere where it goes on");
}

// The same frames at once: a walk is proven only by what was read before the stack was captured and after it.
TEST_P(HotSpotWalk, CodeThatWasReadOnOneSideOnlyIsAGuess) {
  MakeStack(compiled_ + 0x20);
  const std::vector<uint64_t> words = {compiled_ + 0x20, interpreter_ + 0x100, FakeVm::kCallStubReturn};
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), words);  // at 1000
  EXPECT_EQ(Walk(*vm, /*captured_ns=*/999).end, EndReason::kGuessedEnd);
  EXPECT_EQ(Walk(*vm, /*captured_ns=*/1000).end, EndReason::kComplete);
  EXPECT_EQ(Walk(*vm, /*captured_ns=*/1001).end, EndReason::kGuessedEnd);
  now_ns = 2000;
  vm->Read(vm_.memory(), words);
  EXPECT_EQ(Walk(*vm, /*captured_ns=*/2000).end, EndReason::kComplete);
}

// The code has the same place, and so have its calls; what was compiled is another one.
TEST_P(HotSpotWalk, CodeThatWasCompiledAnewInBetweenIsAGuess) {
  MakeStack(compiled_ + 0x20);
  const std::vector<uint64_t> words = {compiled_ + 0x20, interpreter_ + 0x100, FakeVm::kCallStubReturn};
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), words);
  AddCompiled(/*compile_id=*/8);
  now_ns = 3000;
  vm->Read(vm_.memory(), words);
  EXPECT_EQ(Walk(*vm, /*captured_ns=*/2000).end, EndReason::kGuessedEnd);
  EXPECT_EQ(Walk(*vm, /*captured_ns=*/3000).end, EndReason::kComplete);
}

TEST_P(HotSpotWalk, CodeThatIsGoneHasNoFrameAndNoName) {
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  const UserStack before = Walk(*vm, 1000);
  vm_.FreeSegments(segment_);
  vm->Read(vm_.memory(), std::vector<uint64_t>{compiled_ + 0x20});
  EXPECT_THAT(NamesOf(before),
              ElementsAre(std::string(kJavaUnloaded) + ":0", "com.shop.Inventory.serve:6", "call_stub:0"));
  const UserStack after = Walk(*vm, 1000);
  EXPECT_EQ(after.end, EndReason::kGuessedEnd);  // by the frame pointer
  EXPECT_EQ(after.frames[1].code, nullptr);
}

TEST_P(HotSpotWalk, DeoptimizedFrameIsNamedByTheCallItWasIn) {
  MakeStack(compiled_ + 0x80);    // the handler
  Word(2 + 1, compiled_ + 0x20);  // where the return address is kept: 8 bytes above the stack pointer
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  const UserStack stack = Walk(*vm, 1000);
  vm->Read(vm_.memory(), {});
  EXPECT_EQ(stack.frames.size(), 5u);
  EXPECT_EQ(NamesOf(stack).front(), "com.shop.Inventory.reserve:5");
}

TEST_P(HotSpotWalk, InterruptedCodeIsAGuessAndBeforeItsFrameAnEnd) {
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  EXPECT_EQ(Walk(*vm, 1000, compiled_ + 15).end, EndReason::kGeneratedCode);  // its frame is complete from 16 on
  // With the frame: words 0 to 3.
  Word(2, At(20));
  Word(3, interpreter_ + 0x100);
  EXPECT_EQ(Walk(*vm, 1000, compiled_ + 16).end, EndReason::kGuessedEnd);
}

// Its frame pointer is that of the code that has mounted the virtual thread.
TEST_P(HotSpotWalk, FramesOfAVirtualThreadInTheHeapAreNotLeftOut) {
  MakeStack(compiled_ + 0x20);
  const uint64_t stubs = vm_.AddBlob({.name = "StubRoutines (continuationstubs)", .frame_words = 0});
  Word(5, stubs + 0x40);
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  const UserStack stack = Walk(*vm, 1000);
  EXPECT_EQ(stack.end, EndReason::kGeneratedCode);
  EXPECT_EQ(stack.frames.size(), 3u);
}

// The code that mounts virtual threads is made when the first one runs.
TEST_P(HotSpotWalk, WalkEndsWhereAVirtualThreadWasMounted) {
  if (!vm_.is_new()) return;
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  EXPECT_EQ(Walk(*vm, 1000).end, EndReason::kComplete);
  vm_.Put(vm_.continuation_return(), compiled_ + 0x20);
  vm->Read(vm_.memory(), {});
  const UserStack stack = Walk(*vm, 1000);
  EXPECT_EQ(stack.end, EndReason::kGeneratedCode);
  EXPECT_EQ(stack.frames.size(), 2u);
}

// A class is gone, and another one has its place, with a name of the same length at the same place.
TEST_P(HotSpotWalk, AnotherClassAtTheSamePlaceHasItsOwnName) {
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  vm->Read(vm_.memory(), {});
  const UserStack before = Walk(*vm, 1000);
  vm->Read(vm_.memory(), {});
  vm_.SetUnloads(1);
  vm_.RenameClass(caller_, "com/shop/Treasurer");
  now_ns = 2000;
  vm->Read(vm_.memory(), {});
  const UserStack between = Walk(*vm, 1500), after = Walk(*vm, 2000);
  vm->Read(vm_.memory(), {});
  EXPECT_EQ(NamesOf(before)[1], "com.shop.Inventory.serve:6");
  EXPECT_EQ(NamesOf(between)[1], std::string(kJavaUnloaded) + ":0");
  EXPECT_EQ(NamesOf(after)[1], "com.shop.Treasurer.serve:6");
}

// A redefined class is loaded once more, and not unloaded.
TEST_P(HotSpotWalk, RedefinedMethodAtTheSamePlaceHasItsOwnName) {
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  const auto walk = [&](uint64_t ns) {
    now_ns = ns;
    vm->Read(vm_.memory(), std::vector<uint64_t>{compiled_ + 0x20, interpreter_ + 0x100, FakeVm::kCallStubReturn});
    const UserStack stack = Walk(*vm, ns);
    vm->Read(vm_.memory(), {});
    return stack;
  };
  const UserStack before = walk(1000);
  vm_.SetLoads(1);  // nothing goes without a safepoint
  EXPECT_EQ(walk(2000), before);
  vm_.SetSafepoints(1);
  vm_.RenameClass(caller_, "com/shop/Treasurer");
  const UserStack after = walk(3000);
  vm_.SetSafepoints(2);  // nothing comes without a class
  EXPECT_EQ(walk(4000), after);
  EXPECT_EQ(NamesOf(before)[1], "com.shop.Inventory.serve:6");
  EXPECT_EQ(NamesOf(after)[1], "com.shop.Treasurer.serve:6");
}

// Then nothing says how long a name holds.
TEST_P(HotSpotWalk, InterpretedOnesOfAVirtualMachineThatDoesNotCountUnloadsAreGuesses) {
  vm_.Rename("PerfMemory::_start", "_begin");
  MakeStack(compiled_ + 0x20);
  const std::shared_ptr<HotSpot> vm = Open();
  const auto walk = [&](uint64_t ns) {
    now_ns = ns;
    vm->Read(vm_.memory(), std::vector<uint64_t>{compiled_ + 0x20, interpreter_ + 0x100, FakeVm::kCallStubReturn});
    WalkTrace trace;
    const UserStack stack = Walk(*vm, ns, kWait, &trace);
    vm->Read(vm_.memory(), {});
    EXPECT_EQ(stack.end, EndReason::kGuessedEnd);
    EXPECT_FALSE(trace.is_followable);
    return stack;
  };
  const UserStack before = walk(kUncountedNs);
  EXPECT_EQ(walk(2 * kUncountedNs - 1), before);
  vm_.RenameClass(caller_, "com/shop/Treasurer");
  const UserStack after = walk(2 * kUncountedNs);
  EXPECT_EQ(NamesOf(before)[1], "com.shop.Inventory.serve:6");
  EXPECT_EQ(NamesOf(after)[1], "com.shop.Treasurer.serve:6");
}

// It has ended, and its memory is gone: what a walk goes by stays, and names that are known do.
TEST_P(HotSpotWalk, ProcessThatCannotBeReadTakesNothingAway) {
  MakeStack(compiled_ + 0x20);
  const std::vector<uint64_t> words = {compiled_ + 0x20, interpreter_ + 0x100, FakeVm::kCallStubReturn};
  const std::shared_ptr<HotSpot> vm = Open();
  EXPECT_TRUE(vm->Read(vm_.memory(), words));
  Walk(*vm, 1000);
  EXPECT_TRUE(vm->Read(vm_.memory(), {}));
  const UserStack before = Walk(*vm, 1000);
  const std::vector<std::string> names = NamesOf(before);
  EXPECT_FALSE(vm->Read(SpanMemory(0, {}), words));
  EXPECT_EQ(Walk(*vm, 1000), before);
  EXPECT_EQ(NamesOf(before), names);
}

TEST_P(HotSpotWalk, VirtualMachineWithoutCodeIsNotServedYet) {
  vm_.Put(vm_.call_stub_return(), uint64_t{0});
  EXPECT_FALSE(HotSpot::Open(vm_.memory(), vm_.symbols(), [] { return now_ns; }).ok());
}

}  // namespace
}  // namespace offcpu
