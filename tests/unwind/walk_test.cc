// Walks in a made-up process: a module with tables at 0x400000, one without any at 0x500000, generated code at
// 0x600000.
#include "unwind/walk.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unwind/cfi_bytes.h"
#include "tests/unwind/sframe_builder.h"
#include "unwind/frame_pointer.h"

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0x7ffd00001000;
constexpr uint64_t kTables = 0x400000;
constexpr uint64_t kBare = 0x500000;
constexpr uint64_t kGenerated = 0x600000;

// Link-time addresses in the module with tables.
constexpr uint64_t kPlain = 0x1000;      // CFA = rsp + 16
constexpr uint64_t kByFrame = 0x1100;    // CFA = rbp + 16, FP at CFA - 16
constexpr uint64_t kOutermost = 0x1200;  // RA undefined
constexpr uint64_t kExpressed = 0x1300;  // CFA = an expression
constexpr uint64_t kUndescribed = 0x1400;
constexpr uint64_t kStart = 0x1500;    // the ELF entry point, undescribed
constexpr uint64_t kLosesFp = 0x1600;  // CFA = rsp + 16, FP undefined

constexpr uint64_t kPopped = 0x1700;     // CFA = rsp + 16, FP at CFA - 16; from 0x10 on CFA = rsp + 8
constexpr uint64_t kKeptBelow = 0x1780;  // CFA = *(rsp - 128) + 8

constexpr uint64_t kBareStart = 0x1f00;  // the entry point of the module without tables

class WalkTest : public ::testing::Test {
 protected:
  WalkTest() {
    CfiBytes cfi;
    const size_t cie = cfi.Cie();
    cfi.Fde(cie, kPlain, 0x100, {0x0e, 16});
    cfi.Fde(cie, kByFrame, 0x100, {0x0c, 6, 16, 0x86, 2});
    cfi.Fde(cie, kOutermost, 0x100, {0x07, 16});
    cfi.Fde(cie, kExpressed, 0x100, {0x0f, 1, 0x30});
    cfi.Fde(cie, kLosesFp, 0x100, {0x0e, 16, 0x07, 6});
    cfi.Fde(cie, kPopped, 0x80, {0x0e, 16, 0x86, 2, 0x50, 0x0e, 8});
    cfi.Fde(cie, kKeptBelow, 0x80, {0x0f, 6, 0x77, 0x80, 0x7f, 0x06, 0x23, 8});
    auto tables = std::make_shared<Module>();
    tables->code = {{0x1000, 0x1800}};
    tables->eh_frame = cfi.Table();
    tables->entry = kStart;
    auto bare = std::make_shared<Module>();
    bare->code = {{0x1000, 0x2000}};
    bare->entry = kBareStart;
    auto mapped = [](uint64_t base, std::shared_ptr<const Module> mapped_module) {
      MappedCode code;
      code.begin = base + 0x1000;
      code.end = base + 0x2000;
      code.bias = mapped_module != nullptr ? base : 0;
      code.module = std::move(mapped_module);
      return code;
    };
    space = AddressSpace({mapped(kTables, tables), mapped(kBare, bare), mapped(kGenerated, nullptr)});
    module = tables.get();
  }

  EndReason Walk(uint64_t pc, uint64_t fp = 0, bool more = false) {
    Registers registers;
    registers.value[kRip] = pc;
    registers.value[kRsp] = kStack;
    registers.value[kRbp] = fp;
    std::vector<uint64_t> copied = red_zone;
    copied.insert(copied.end(), words.begin(), words.end());
    const uint64_t begin = kStack - red_zone.size() * 8;
    SpanMemory memory(begin, std::as_bytes(std::span(copied)));
    walker.Walk(space, registers, false, {memory, begin, kStack + words.size() * 8, more}, &stack, &trace);
    return stack.end;
  }
  // The addresses of the walked frames.
  std::vector<uint64_t> addresses() const {
    std::vector<uint64_t> result;
    for (const Frame& frame : stack.frames) result.push_back(frame.address);
    return result;
  }

  AddressSpace space{{}};
  const Module* module = nullptr;
  std::vector<uint64_t> red_zone;  // what was copied of it
  std::vector<uint64_t> words = std::vector<uint64_t>(16);
  Walker walker{kX86_64};
  UserStack stack;
  WalkTrace trace;
};

TEST_F(WalkTest, ToTheOutermostFrame) {
  words[1] = kTables + kPlain + 0x20;
  words[3] = kTables + kOutermost + 0x30;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, kPlain + 0x20, kOutermost + 0x30}));
  EXPECT_EQ(stack.frames[0].source, FrameSource::kRegisters);
  EXPECT_TRUE(stack.frames[0].exact);
  EXPECT_EQ(stack.frames[1].source, FrameSource::kEhFrame);
  EXPECT_FALSE(stack.frames[1].exact);
  EXPECT_EQ(stack.frames[1].code, module);
  EXPECT_EQ(walker.stats().walks, 1u);
  EXPECT_EQ(walker.stats().ends[static_cast<size_t>(EndReason::kComplete)], 1u);
  EXPECT_EQ(walker.stats().frames[static_cast<size_t>(FrameSource::kEhFrame)], 2u);
}

// Code that no table describes may be there itself. What it does from a return address on leads to its caller: a guess.
TEST_F(WalkTest, ByWhatTheCodeDoes) {
  std::vector<std::byte> text(0x1000, std::byte{0xcc});
  const std::array code = {0x48, 0x83, 0xc4, 0x08, 0xc3,  // add $8, %rsp; ret
                           0xf4};                         // hlt
  for (size_t i = 0; i < code.size(); ++i) text[0x10 + i] = static_cast<std::byte>(code[i]);
  std::const_pointer_cast<Module>(space.code()[1].module)->text = {.address = 0x1000, .bytes = text};
  words[1] = kBare + 0x1010;
  words[3] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kGuessedEnd);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, 0x1010, kOutermost + 1}));
  EXPECT_EQ(stack.frames[2].source, FrameSource::kFramePointer);
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kGuessedEnd) << "as it is known from before";
  EXPECT_EQ(stack.frames.size(), 3u);
  words[1] = kBare + 0x1015;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kGuessedEnd) << "it never returns";
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, 0x1015}));
  Walker only_tables(kX86_64, *ParseUnwindOrder("eh_frame"));
  walker = std::move(only_tables);
  words[1] = kBare + 0x1010;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kNoRow) << "no guess is asked for";
}

// Where the code and the frame pointer lead to the same caller, the frame is as good as by the frame pointer alone.
TEST_F(WalkTest, ByWhatTheCodeDoesAndTheFramePointer) {
  std::vector<std::byte> text(0x1000, std::byte{0xcc});
  const std::array code = {0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};  // add $16, %rsp; pop %rbp; ret
  for (size_t i = 0; i < code.size(); ++i) text[0x10 + i] = static_cast<std::byte>(code[i]);
  std::const_pointer_cast<Module>(space.code()[1].module)->text = {.address = 0x1000, .bytes = text};
  words[1] = kBare + 0x1010;
  words[5] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kPlain, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, 0x1010, kOutermost + 1}));
  EXPECT_EQ(Walk(kTables + kPlain, kStack + 40), EndReason::kGuessedEnd) << "it points elsewhere";
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, 0x1010, kOutermost + 1}));
}

// A text that is too large to be kept is read where the walk comes to it, and only to confirm a frame pointer.
TEST_F(WalkTest, ByWhatTheCodeInTheFileDoesAndTheFramePointer) {
  std::string path = testing::TempDir() + "offcpu-text-XXXXXX";
  OwnedFd file(mkstemp(path.data()));
  ASSERT_TRUE(file);
  unlink(path.c_str());
  std::vector<std::byte> bytes(0x1200, std::byte{0xcc});
  const std::array code = {0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};  // add $16, %rsp; pop %rbp; ret
  for (size_t i = 0; i < code.size(); ++i) bytes[0x210 + i] = static_cast<std::byte>(code[i]);
  ASSERT_EQ(write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const auto bare = std::const_pointer_cast<Module>(space.code()[1].module);
  bare->file = std::move(file);
  bare->text_in_file = {.address = 0x1000, .offset = 0x200, .bytes = 0x1000};
  words[1] = kBare + 0x1010;
  words[2] = kTables + kPlain;  // looks like the address of code
  words[5] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kPlain, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, 0x1010, kOutermost + 1}));
  words[7] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kPlain, kStack + 48), EndReason::kGuessedEnd) << "the code says another place";
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, 0x1010, kOutermost + 1}));
  EXPECT_EQ(Walk(kTables + kPlain, 0), EndReason::kNoRow) << "there is no guess to confirm";
  words[1] = kBare + 0x2000;
  EXPECT_EQ(Walk(kTables + kPlain, kStack + 32), EndReason::kGuessedEnd) << "behind the text";
  bare->text_in_file.bytes = 0x2000;
  words[1] = kBare + 0x1ff0;
  EXPECT_EQ(Walk(kTables + kPlain, kStack + 32), EndReason::kGuessedEnd) << "the file is not as long";
}

// CPython gives each Python function a copy of one small function, of which all is known.
TEST_F(WalkTest, ThroughCopiesOfOneFunction) {
  std::vector<MappedCode> code = space.code();
  for (const int byte : {0x48, 0x83, 0xec, 0x08,  // sub $8, %rsp
                         0xff, 0xd1,              // call *%rcx
                         0x48, 0x83, 0xc4, 0x08,  // add $8, %rsp
                         0xc3, 0, 0, 0, 0, 0}) {  // ret
    code[2].copied.push_back(static_cast<std::byte>(byte));
  }
  space = AddressSpace(std::move(code));
  words[1] = kGenerated + 0x1000 + 3 * 16 + 6;
  words[3] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), 3u);
  words[1] = kGenerated + 0x1000 + 3 * 16 + 11;  // behind its end, from where nothing returns
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kGeneratedCode);
}

TEST_F(WalkTest, CallersAreLookedUpOneByteBefore) {
  words[1] = kTables + kByFrame;  // the byte before belongs to kPlain
  words[3] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), 3u);
  // The leaf's own pc is looked up itself: by frame pointer, which is 0.
  EXPECT_EQ(Walk(kTables + kByFrame), EndReason::kBadCfa);
}

// A call may be the last instruction of a mapping.
TEST_F(WalkTest, ReturnAddressBehindTheMapping) {
  words[1] = kTables + 0x2000;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kNoRow);
  EXPECT_EQ(stack.frames.size(), 2u);
}

TEST_F(WalkTest, ReturnAddressZero) {
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), 1u);
}

TEST_F(WalkTest, ReturnAddressNotInCode) {
  words[1] = kStack;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kBadReturnAddress);
  EXPECT_EQ(stack.frames.size(), 1u);
}

TEST_F(WalkTest, LeafNotInCode) {
  EXPECT_EQ(Walk(kStack), EndReason::kNotMapped);
  EXPECT_TRUE(stack.frames.empty());
}

TEST_F(WalkTest, EndsWithTheReasonOfItsLastStep) {
  EXPECT_EQ(Walk(kTables + kUndescribed), EndReason::kNoRow);
  EXPECT_EQ(Walk(kTables + kExpressed), EndReason::kExpression);
  EXPECT_EQ(Walk(kTables + kByFrame, kStack + 16 * 8, true), EndReason::kStackCopy);
  EXPECT_EQ(Walk(kTables + kByFrame, kStack + 16 * 8, false), EndReason::kBadCfa);
}

// Code with tables has no frame pointer to fall back to, whatever the register holds.
TEST_F(WalkTest, NoGuessWhereThereAreTables) {
  words[4] = kStack + 64;
  words[5] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kUndescribed, kStack + 32), EndReason::kNoRow);
  EXPECT_EQ(stack.frames.size(), 1u);
}

// But where it points exactly to the end of a caller's stack, it has been pushed and set right there: the compiler's
// own start-up code has no table.
TEST_F(WalkTest, PushedFramePointerOfUndescribedCode) {
  red_zone = {kStack + 8};
  words[0] = kTables + kUndescribed + 1;
  words[1] = kStack + 80;
  words[2] = kTables + kByFrame + 1;
  words[11] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kPopped + 0x10, kStack + 8), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPopped + 0x10, kUndescribed + 1, kByFrame + 1, kOutermost + 1}));
  EXPECT_EQ(stack.frames[2].source, FrameSource::kFramePointer);
  EXPECT_EQ(Walk(kTables + kUndescribed, kStack), EndReason::kNoRow) << "in a leaf it may be anybody's";
  walker = Walker(kX86_64, *ParseUnwindOrder("sframe,eh_frame"));
  EXPECT_EQ(Walk(kTables + kPopped + 0x10, kStack + 8), EndReason::kNoRow) << "not asked for";
}

// What a frame has popped lies below the stack pointer, where the table still says that it is.
TEST_F(WalkTest, FramePointerThatHasBeenPopped) {
  words[0] = kTables + kByFrame + 1;
  words[4] = kStack + 80;
  words[5] = kTables + kOutermost + 1;
  red_zone = {kStack + 32};
  EXPECT_EQ(Walk(kTables + kPopped + 0x10, 1), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPopped + 0x10, kByFrame + 1, kOutermost + 1}));
  red_zone.clear();
  EXPECT_EQ(Walk(kTables + kPopped + 0x10, kStack + 32), EndReason::kRegisterUnknown);
}

// As assembler code of OpenSSL keeps it, which calls nobody.
TEST_F(WalkTest, CfaInTheRedZone) {
  red_zone = std::vector<uint64_t>(16);
  red_zone[0] = kStack + 48;
  words[6] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kKeptBelow), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kKeptBelow, kOutermost + 1}));
  red_zone.erase(red_zone.begin());
  EXPECT_EQ(Walk(kTables + kKeptBelow), EndReason::kBadMemory);
}

// A large part of a module's text that no table describes, at 0x700000, as node carries V8's built-in functions.
class HoleWalkTest : public WalkTest {
 protected:
  static constexpr uint64_t kBase = 0x700000;
  static constexpr uint64_t kDescribed = 0x1000;  // CFA = rsp + 16
  static constexpr uint64_t kOutermostToo = 0x1100;
  static constexpr uint64_t kHole = 0x1200;

  HoleWalkTest() {
    CfiBytes cfi;
    const size_t cie = cfi.Cie();
    cfi.Fde(cie, kDescribed, 0x100, {0x0e, 16});
    cfi.Fde(cie, kOutermostToo, 0x100, {0x07, 16});
    auto with_hole = std::make_shared<Module>();
    with_hole->code = {{0x1000, kHole + kMinHoleBytes}};
    with_hole->eh_frame = cfi.Table();
    MappedCode code;
    code.begin = kBase + 0x1000;
    code.end = kBase + kHole + kMinHoleBytes;
    code.bias = kBase;
    code.module = with_hole;
    space = AddressSpace({code});
  }
};

TEST_F(HoleWalkTest, ByFramePointerBetweenDescribedCode) {
  words[1] = kBase + kHole + 0x20;
  words[4] = kStack + 64;
  words[5] = kBase + kHole + 0x30;
  words[8] = 12345;  // rbp is anything in compiled code
  words[9] = kBase + kDescribed + 0x40;
  words[11] = kBase + kOutermostToo + 1;
  EXPECT_EQ(Walk(kBase + kDescribed, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(addresses(),
            (std::vector<uint64_t>{kDescribed, kHole + 0x20, kHole + 0x30, kDescribed + 0x40, kOutermostToo + 1}));
  EXPECT_EQ(stack.frames[1].source, FrameSource::kEhFrame);
  EXPECT_EQ(stack.frames[2].source, FrameSource::kFramePointer) << "a guess, and marked as one";
  EXPECT_EQ(stack.frames[3].source, FrameSource::kFramePointer);
  EXPECT_EQ(stack.frames[4].source, FrameSource::kEhFrame);
}

TEST_F(HoleWalkTest, NotByWhatCannotBeAFramePointer) {
  words[1] = kBase + kHole + 0x20;
  for (const uint64_t fp : {uint64_t{0}, kStack + 8, kStack + 33, kStack + 8 * words.size()}) {
    EXPECT_EQ(Walk(kBase + kDescribed, fp), EndReason::kNoRow) << fp - kStack;
    EXPECT_EQ(stack.frames.size(), 2u);
  }
}

// An interrupted function of an assembler has its caller's frame pointer, and the caller would be left out.
TEST_F(HoleWalkTest, InterruptedThereOnlyIfTheCallerIsOfItsKind) {
  words[4] = kStack + 64;
  words[9] = kBase + kDescribed + 0x40;
  words[11] = kBase + kOutermostToo + 1;
  words[5] = kBase + kDescribed + 1;
  EXPECT_EQ(Walk(kBase + kHole, kStack + 32), EndReason::kNoRow);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kHole}));
  words[5] = kBase + kHole + 0x30;
  EXPECT_EQ(Walk(kBase + kHole, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kHole, kHole + 0x30, kDescribed + 0x40, kOutermostToo + 1}));
}

// Compiled code of Java leaves the frame pointer as the last function that has set it. By it callers are left out,
// whose return addresses are between: the walk comes to the end, but nothing says that this is all.
TEST_F(WalkTest, WhereTheFramePointerMayBeThatOfAnotherFrame) {
  words[4] = kStack + 64;
  words[5] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), 2u);
  for (const size_t at : {0, 3}) {
    words[at] = kGenerated + 0x1100;  // the return address of who is left out
    EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kGuessedEnd) << at;
    EXPECT_EQ(stack.frames.size(), 2u);
    words[at] = 0;
  }
}

// Any word may be the return address of who is left out, in code that is not known.
TEST_F(WalkTest, WhereAFramePointerLeadsInCodeThatIsNotWhole) {
  words[4] = kStack + 64;
  words[5] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kComplete);
  space = AddressSpace(space.code(), {}, /*is_whole=*/false);
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kGuessedEnd);
  EXPECT_EQ(stack.frames.size(), 2u);
  words[0] = kStack + 64;
  words[1] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack), EndReason::kComplete) << "there is no word";
  words[1] = kTables + kPlain + 0x20;
  words[3] = kTables + kOutermost + 0x30;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete) << "tables tell of their own code";
}

TEST_F(WalkTest, GeneratedCode) {
  words[4] = kStack + 64;
  words[5] = kBare + 0x1010;
  words[8] = 0;
  words[9] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kGenerated + 0x1000, 0x1010, kOutermost + 1}));
  EXPECT_EQ(stack.frames[0].code, nullptr);
  EXPECT_EQ(stack.frames[1].source, FrameSource::kFramePointer);
}

TEST_F(WalkTest, FramePointersInACircle) {
  words[4] = kStack + 64;
  words[5] = kGenerated + 0x1010;
  words[8] = kStack + 32;
  words[9] = kGenerated + 0x1020;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kGeneratedCode);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kGenerated + 0x1000, kGenerated + 0x1010, kGenerated + 0x1020}));
  words[4] = kStack + 32;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kGeneratedCode) << "to itself";
  EXPECT_EQ(stack.frames.size(), 2u);
}

// A return address that leads into the same function again and again: each frame is further up, so there is an end.
TEST_F(WalkTest, RecursionUpToTheEndOfTheStack) {
  words.assign(words.size(), kTables + kPlain + 8);
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kBadCfa);
  EXPECT_EQ(stack.frames.size(), words.size() / 2 + 1);
}

// Whatever lies on the stack, a walk comes to an end, and never shows what is not code.
TEST_F(WalkTest, AnyStackAtAll) {
  constexpr std::array<uint64_t, 12> kPlaces = {kPlain,       kPlain + 0x20, kByFrame + 1, kExpressed + 1,
                                                kUndescribed, kLosesFp,      kPopped + 1,  kPopped + 16,
                                                kStart + 8,   0x1fff,        0x2000,       0x2001};
  std::minstd_rand random(1);
  const auto any = [&]() -> uint64_t {
    const uint64_t place = kPlaces[random() % kPlaces.size()];
    switch (random() % 8) {
      case 0:
        return random() % 9;  // flags, among others
      case 1:
        return UINT64_MAX - random() % 64;
      case 2:
        return kStack - 64 + random() % 1024;  // mostly unaligned
      case 3:
      case 4:
        return kStack - 64 + random() % 128 * 8;
      case 5:
        return kBare + place;
      case 6:
        return kGenerated + place;
      default:
        return kTables + place;
    }
  };
  words.resize(64);
  std::array<uint64_t, kEndReasonCount> ends = {};
  for (int i = 0; i < 20'000; ++i) {
    for (uint64_t& word : words) word = any();
    ++ends[static_cast<size_t>(Walk(any(), any(), i % 2 == 0))];
    ASSERT_LE(stack.frames.size(), kMaxFrames);
    for (const Frame& frame : stack.frames) {
      ASSERT_TRUE(frame.code == nullptr || (frame.lookup_address() >= 0x1000 && frame.lookup_address() < 0x2000));
    }
  }
  for (const EndReason end : {EndReason::kComplete, EndReason::kGuessedEnd, EndReason::kStackCopy, EndReason::kNoRow,
                              EndReason::kRegisterUnknown, EndReason::kBadCfa, EndReason::kBadReturnAddress,
                              EndReason::kNotMapped, EndReason::kGeneratedCode}) {
    EXPECT_GT(ends[static_cast<size_t>(end)], 0u) << Name(end) << ": then this has not tried much";
  }
}

// A thread that waits where the next instruction is `ret` has its return address at the stack pointer, whatever the
// frame pointer looks like. What follows from there is as for any caller without a table.
TEST_F(HoleWalkTest, SystemCallThatReturnsAtOnce) {
  words[0] = kBase + kDescribed + 0x20;
  words[4] = 0;
  words[5] = kBase + kHole + 0x30;
  std::const_pointer_cast<Module>(space.code()[0].module)->without_frames = {{kHole + 8, kHole + 9}};
  for (const uint64_t fp : {kStack + 32, uint64_t{0}, uint64_t{0x1234}}) {
    Walk(kBase + kHole + 8, fp);
    ASSERT_GE(stack.frames.size(), 2u) << fp;
    EXPECT_EQ(stack.frames[1].address, kDescribed + 0x20);
    EXPECT_EQ(stack.frames[1].source, FrameSource::kFramePointer);
  }
  walker = Walker(kX86_64, *ParseUnwindOrder("eh_frame"));
  EXPECT_EQ(Walk(kBase + kHole + 8, kStack + 32), EndReason::kNoRow) << "nothing that is not in a table";
  EXPECT_EQ(stack.frames.size(), 1u);
}

// Go: a function without a frame of its own, called by one with a frame pointer. Behind that one only frame pointers
// lead on.
TEST_F(WalkTest, InterruptedInGo) {
  auto go = std::make_shared<Module>(Module());
  go->code = {{0x1000, 0x2000}};
  go->keeps_frame_pointer = true;
  go->landmarks = {{.code = {0x12f0, 0x1310}}};
  for (const int byte : {16, 0,    0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0,  // CIE
                         20, 0,    0, 0, 0,    0,    0,    0,     // length of an FDE, its CIE
                         0,  0x10, 0, 0, 0,    0,    0,    0,     // begin: CFA = rsp + 8 in all of it
                         0,  0x10, 0, 0, 0,    0,    0,    0}) {  // size
    go->debug_frame.bytes.push_back(static_cast<std::byte>(byte));
  }
  MappedCode code;
  code.begin = kGenerated + 0x1000;
  code.end = kGenerated + 0x2000;
  code.bias = kGenerated;
  code.module = go;
  space = AddressSpace({code});
  words[0] = kGenerated + 0x1100;
  words[1] = kGenerated + 0x1800;  // no return address, though the table would take it for one
  words[4] = kStack + 64;
  words[5] = kGenerated + 0x1200;
  words[8] = 0;
  words[9] = kGenerated + 0x1300;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{0x1000, 0x1100, 0x1200, 0x1300}));
  EXPECT_EQ(stack.frames[1].source, FrameSource::kDebugFrame);
  EXPECT_EQ(stack.frames[2].source, FrameSource::kFramePointer);
  walker = Walker(kX86_64, *ParseUnwindOrder("fp"));
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{0x1000, 0x1200, 0x1300})) << "the caller is left out";
  // A stripped program, whose runtime still knows where there is no frame.
  go->debug_frame = ModuleTable();
  go->without_frames = {{0x1000, 0x1001}};
  walker = Walker(kX86_64);
  for (const uint64_t fp : {kStack + 32, uint64_t{0}}) {
    Walk(kGenerated + 0x1000, fp);
    ASSERT_GE(stack.frames.size(), 2u);
    EXPECT_EQ(stack.frames[1].address, 0x1100u);
    EXPECT_EQ(stack.frames[1].source, FrameSource::kFramePointer);
    EXPECT_EQ(stack.frames.size(), fp == 0 ? 2u : 4u) << "from there on by frame pointer";
  }
  Walk(kGenerated + 0x1001, kStack + 32);
  EXPECT_EQ(stack.frames[1].address, 0x1200u) << "there it has one";
}

// Go's tables say where the CFA is, and nothing of the frame pointer. Where that of the interrupted function is set up,
// the caller's lies behind it; before that, the register is still the caller's.
TEST_F(WalkTest, InterruptedInAFrameOfGo) {
  auto go = std::make_shared<Module>(Module());
  go->code = {{0x1000, 0x2000}};
  go->keeps_frame_pointer = true;
  go->landmarks = {{.code = {0x12f0, 0x1310}}};
  for (const int byte : {16,   0,    0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0,  // CIE
                         24,   0,    0, 0, 0,    0,    0,    0,  // length of an FDE, its CIE
                         0,    0x10, 0, 0, 0,    0,    0,    0,  // begin
                         0,    2,    0, 0, 0,    0,    0,    0,  // size
                         0x0e, 48,   0, 0}) {                    // DW_CFA_def_cfa_offset: CFA = rsp + 48 in all of it
    go->debug_frame.bytes.push_back(static_cast<std::byte>(byte));
  }
  MappedCode code;
  code.begin = kGenerated + 0x1000;
  code.end = kGenerated + 0x2000;
  code.bias = kGenerated;
  code.module = go;
  space = AddressSpace({code});
  words[4] = kStack + 80;
  words[10] = 0;
  for (const uint64_t caller : {0x1180, 0x1280}) {  // in the table, too, or not
    SCOPED_TRACE(caller);
    words[5] = kGenerated + caller;
    words[11] = kGenerated + 0x1300;
    for (const uint64_t fp : {kStack + 32, kStack + 80}) {
      EXPECT_EQ(Walk(kGenerated + 0x1100, fp), EndReason::kComplete);
      EXPECT_EQ(addresses(), (std::vector<uint64_t>{0x1100, caller, 0x1300})) << fp;
      EXPECT_EQ(stack.frames[1].source, FrameSource::kDebugFrame);
      EXPECT_EQ(stack.frames[2].source, FrameSource::kFramePointer);
      EXPECT_TRUE(trace.is_followable);
    }
  }
  // A frame pointer that is none: the table leads on. Another value would have decided otherwise.
  words[5] = kGenerated + 0x1180;
  words[11] = kGenerated + 0x1300;
  EXPECT_EQ(Walk(kGenerated + 0x1100, kStack + 8), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{0x1100, 0x1180, 0x1300}));
  EXPECT_EQ(stack.frames[2].source, FrameSource::kDebugFrame);
  EXPECT_FALSE(trace.is_fixed);
}

// Code without tables, of which it is known that it has a frame at each call. Words between the stack pointer and the
// frame pointer that might be addresses of code mean nothing then.
TEST_F(WalkTest, FunctionsWithAFrameAtEachCallLeaveOutNobody) {
  const auto walk = [this](uint64_t leaf) {
    words.assign(16, 0);
    words[1] = kBare + 0x1111;  // a function pointer, or the return address of one that has no frame
    words[4] = kStack + 64;
    words[5] = kBare + 0x1200;
    words[8] = 0;
    words[9] = kTables + kOutermost + 5;
    return Walk(leaf, kStack + 32);
  };
  const auto framed = [this](std::vector<CodeRange> ranges) {
    std::const_pointer_cast<Module>(space.Find(kBare + 0x1000)->module)->framed = std::move(ranges);
  };
  EXPECT_EQ(walk(kBare + 0x1180), EndReason::kGuessedEnd) << "nothing is known";
  framed({{0x1100, 0x1300}});
  EXPECT_EQ(walk(kBare + 0x1180), EndReason::kGuessedEnd) << "it was interrupted, and need not have its frame";
  // Called by one that a table describes, so that the register is known.
  const auto walk_from_table = [&](std::vector<CodeRange> ranges) {
    framed(std::move(ranges));
    words.assign(16, 0);
    words[1] = kBare + 0x1180;  // returns there from kPlain: CFA = rsp + 16
    words[3] = kBare + 0x1111;
    words[4] = kStack + 64;
    words[5] = kBare + 0x1200;
    words[6] = kBare + 0x1111;
    words[8] = 0;
    words[9] = kTables + kOutermost + 5;
    return Walk(kTables + kPlain, kStack + 32);
  };
  EXPECT_EQ(walk_from_table({}), EndReason::kGuessedEnd);
  EXPECT_EQ(walk_from_table({{0x1100, 0x1300}}), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, 0x1180, 0x1200, kOutermost + 5}));
  EXPECT_EQ(walk_from_table({{0x1100, 0x11ff}}), EndReason::kGuessedEnd) << "the caller's calls are not known";
  EXPECT_EQ(walk_from_table({{0x1100, 0x1190}, {0x11f0, 0x1200}}), EndReason::kComplete) << "returns to its end";
  EXPECT_EQ(walk_from_table({{0x1190, 0x1300}}), EndReason::kGuessedEnd) << "the callee's are not";
}

// Where the stacks of Go's runtime begin or change, as what is called there tells it; what is interrupted there may not
// have come so far.
TEST_F(WalkTest, WhereGoStacksBeginOrChange) {
  using Kind = StackLandmark::Kind;
  auto go = std::make_shared<Module>(Module());
  go->code = {{0x1000, 0x2000}};
  go->keeps_frame_pointer = true;
  go->landmarks = {{.code = {0x1200, 0x1300}, .kind = Kind::kBaseOfCallee},
                   {.code = {0x1300, 0x1400}, .kind = Kind::kWithoutFrame},
                   {.code = {0x1400, 0x1500}, .kind = Kind::kSwitch}};
  MappedCode code;
  code.begin = kGenerated + 0x1000;
  code.end = kGenerated + 0x2000;
  code.bias = kGenerated;
  code.module = go;
  space = AddressSpace({code});
  const auto called_by = [&](uint64_t caller) {
    words.assign(16, 0);
    words[4] = 0x1234;  // the frame pointer of nobody
    words[5] = kGenerated + caller;
    words[6] = kGenerated + 0x1210;  // the return address of what has no frame
    return Walk(kGenerated + 0x1100, kStack + 32);
  };
  EXPECT_EQ(called_by(0x1280), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{0x1100, 0x1280}));
  EXPECT_EQ(called_by(0x1380), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{0x1100, 0x1380, 0x1210}));
  EXPECT_EQ(called_by(0x1480), EndReason::kOtherStack);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{0x1100, 0x1480}));
  EXPECT_EQ(walker.needed().address, 0u);
  for (const uint64_t at : {uint64_t{0x1280}, uint64_t{0x1480}}) {
    words.assign(16, 0);
    words[5] = kGenerated + 0x1100;
    Walk(kGenerated + at, kStack + 32);
    EXPECT_EQ(addresses(), (std::vector<uint64_t>{at, 0x1100})) << "it was interrupted";
  }
}

TEST_F(WalkTest, EndOfAFramePointerChain) {
  words[4] = 0;
  words[5] = kGenerated + 0x1010;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kGuessedEnd) << "code may use the register for a 0";
  EXPECT_EQ(stack.frames.size(), 2u);
  EXPECT_EQ(Walk(kGenerated + 0x1000, 0), EndReason::kGeneratedCode) << "in a leaf 0 says nothing";
  EXPECT_EQ(walker.stats().ends[static_cast<size_t>(EndReason::kComplete)], 0u);
}

// A register that is no frame pointer may point to a 0 as well.
TEST_F(WalkTest, ReturnAddressZeroThatWasGuessed) {
  words[5] = 0;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kGuessedEnd);
  EXPECT_EQ(stack.frames.size(), 1u);
  words[5] = kTables + kPlain + 1;  // whose return address, by its table, is 0
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kGuessedEnd) << "but where its frame is was guessed";
  EXPECT_EQ(stack.frames.size(), 2u);
  words[5] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kGenerated + 0x1000, kStack + 32), EndReason::kComplete) << "the mark of a table is a proof";
}

TEST_F(WalkTest, StartCodeWithTheMarkIsTheOutermostFrame) {
  words[1] = kTables + kStart + 64;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), 2u);
  words[1] = kTables + kStart + 65;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kNoRow);
  words[1] = kBare + kBareStart + 0x10;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), 2u);
}

// A process that begins: its first instruction waits for its page, with whatever is in the register.
TEST_F(WalkTest, InterruptedStartCodeIsTheOutermostFrame) {
  EXPECT_EQ(Walk(kTables + kStart, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), 1u);
  // A later one, with the stack as the kernel has made it: two arguments, a 0, the environment.
  EXPECT_EQ(Walk(kTables + kStart + 8), EndReason::kNoRow) << "any function that is near may have been interrupted";
  words = {2, kStack + 800, kStack + 808, 0, kStack + 816, 0};
  EXPECT_EQ(Walk(kTables + kStart + 8), EndReason::kComplete);
  EXPECT_EQ(Walk(kTables + kStart + 64), EndReason::kNoRow);
  words[3] = kStack + 812;
  EXPECT_EQ(Walk(kTables + kStart + 8), EndReason::kNoRow) << "there are three";
}

// Functions stand directly behind the few instructions of the start code.
TEST_F(WalkTest, WhatIsNearTheEntryPointHasCallers) {
  words[1] = kTables + kStart + 32;
  EXPECT_EQ(Walk(kTables + kPlain, kStack + 32), EndReason::kNoRow);
  // By frame pointers: a function near the entry point, one far from it, and the start code.
  words[1] = kBare + kBareStart + 0x38;
  words[4] = kStack + 64;
  words[5] = kBare + 0x1010;
  words[8] = 0;
  words[9] = kBare + kBareStart + 0x10;
  EXPECT_EQ(Walk(kTables + kPlain, kStack + 32), EndReason::kComplete);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, kBareStart + 0x38, 0x1010, kBareStart + 0x10}));
}

TEST_F(WalkTest, StartCodeWhoseFramePointerIsNotKnown) {
  words[1] = kTables + kLosesFp + 1;
  words[3] = kTables + kStart + 8;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kNoRow);
  EXPECT_EQ(stack.frames.size(), 3u);
}

// A stack of `count` frames, each of which has two words.
void FillWithFrames(size_t count, std::vector<uint64_t>* words) {
  words->assign(2 * count, kTables + kPlain + 8);
  words->back() = 0;  // the return address of the outermost one
}

TEST_F(WalkTest, AsManyFramesAsTheLimit) {
  FillWithFrames(kMaxFrames, &words);
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), kMaxFrames);
}

TEST_F(WalkTest, OfMoreFramesTheInnermostAndTheOutermostAreKept) {
  FillWithFrames(5, &words);
  walker = Walker(kX86_64, {}, {}, 5);
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  EXPECT_EQ(stack.frames.size(), 5u);
  words.assign({0, kTables + kPlain + 1, 0, kTables + kPlain + 2, 0, kTables + kPlain + 3, 0, kTables + kPlain + 4, 0,
                kTables + kPlain + 5, 0, kTables + kPlain + 6, 0, kTables + kOutermost + 1});
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kFrameLimit);
  EXPECT_EQ(addresses(), (std::vector<uint64_t>{kPlain, kPlain + 1, 3, kPlain + 5, kPlain + 6, kOutermost + 1}));
  for (size_t i = 0; i < stack.frames.size(); ++i) EXPECT_EQ(stack.frames[i].is_marker(), i == 2) << i;
  EXPECT_EQ(walker.stats().frames[static_cast<size_t>(FrameSource::kEhFrame)], 4u + 4u) << "the mark is no frame";
}

// Where the outermost frame is not found, the end of what was captured is not worth more than what is further in.
TEST_F(WalkTest, OfMoreFramesWithoutAnEndTheInnermostAreKept) {
  FillWithFrames(kMaxFrames + 1, &words);
  words.back() = kTables + kPlain + 8;
  EXPECT_EQ(Walk(kTables + kPlain, 0, /*more=*/true), EndReason::kStackCopy) << "the next capture may hold more";
  EXPECT_EQ(stack.frames.size(), kMaxFrames);
  for (const Frame& frame : stack.frames) EXPECT_FALSE(frame.is_marker());
}

// A trampoline, described by one table or the other, directly behind a function that ends in a call.
class TrampolineTest : public ::testing::TestWithParam<FrameSource> {
 protected:
  static constexpr uint64_t kHandler = 0x1000;      // CFA = rsp + 8
  static constexpr uint64_t kInFront = 0x1100;      // CFA = rsp + 16
  static constexpr uint64_t kTrampoline = 0x1200;   // S
  static constexpr uint64_t kInterrupted = 0x1300;  // RA undefined

  TrampolineTest() {
    CfiBytes cfi;
    const size_t cie = cfi.Cie();
    const size_t signal_cie = cfi.Cie("zRS");
    cfi.Fde(cie, kHandler, 0x100, {});
    cfi.Fde(cie, kInFront, 0x100, {0x0e, 16});
    cfi.Fde(signal_cie, kTrampoline, 0x10,
            {0x0f, 4, 0x77, 0xa0, 0x01, 0x06,  // CFA: *(rsp + 160)
             0x10, 16, 3, 0x77, 0xa8, 0x01});  // rip at rsp + 168
    cfi.Fde(cie, kInterrupted, 0x100, {0x07, 16});
    SFrameBuilder sframe;
    sframe.OnStack(kHandler, 0x100, 8);
    sframe.OnStack(kInFront, 0x100, 16);
    sframe.Function(kTrampoline, 0x10, SFrameBuilder::kSignal, {});
    sframe.Function(kInterrupted, 0x100, SFrameBuilder::kStart1, {{0, 0}});
    auto module = std::make_shared<Module>();
    module->code = {{0x1000, 0x2000}};
    if (GetParam() == FrameSource::kEhFrame) module->eh_frame = cfi.Table();
    if (GetParam() == FrameSource::kSFrame) module->sframe = sframe.Table();
    MappedCode code;
    code.begin = kTables + 0x1000;
    code.end = kTables + 0x2000;
    code.bias = kTables;
    code.module = std::move(module);
    space = AddressSpace({code});
    words[0] = kTables + kTrampoline;  // where the handler returns to
    // From word 1 on struct ucontext, as the kernel makes it: flags, no link, two words of the interrupted registers,
    // the segments 0x33 and 0x2b.
    words[1] = 6;
    words[1 + 160 / 8] = kStack + sizeof(uint64_t) * words.size() - 8;
    words[1 + 168 / 8] = kTables + kInterrupted + 0x10;
    words[1 + 184 / 8] = 0x002b000000000033;
  }

  EndReason Walk(size_t count) {
    Registers registers;
    registers.value[kRip] = kTables + kHandler;
    registers.value[kRsp] = kStack;
    SpanMemory memory(kStack, std::as_bytes(std::span(words)).first(count * 8));
    walker.Walk(space, registers, false, {memory, kStack, kStack + count * 8, count < words.size()}, &stack);
    return stack.end;
  }

  AddressSpace space{{}};
  std::array<uint64_t, 64> words = {};
  Walker walker{kX86_64};
  UserStack stack;
};
INSTANTIATE_TEST_SUITE_P(Tables, TrampolineTest, ::testing::Values(FrameSource::kEhFrame, FrameSource::kSFrame),
                         [](const auto& source) { return std::string(Name(source.param)); });

TEST_P(TrampolineTest, HasNothingToDoWithWhatIsInFront) {
  EXPECT_EQ(Walk(words.size()), EndReason::kComplete);
  ASSERT_EQ(stack.frames.size(), 3u);
  EXPECT_EQ(stack.frames[1].address, kTrampoline);
  EXPECT_TRUE(stack.frames[1].exact) << "its name, too, is not that of the function in front";
  EXPECT_EQ(stack.frames[1].source, GetParam());
  EXPECT_EQ(stack.frames[2].address, kInterrupted + 0x10);
  EXPECT_EQ(stack.frames[2].source, FrameSource::kSignalTrampoline);
}

// The function in front has called one that does not return: the same address, but no ucontext.
TEST_P(TrampolineTest, IsNotReturnedToByACall) {
  words[2] = kTables + kInterrupted + 0x20;  // uc_link, where the caller's return address is
  EXPECT_EQ(Walk(words.size()), EndReason::kComplete);
  ASSERT_EQ(stack.frames.size(), 3u);
  EXPECT_EQ(stack.frames[1].address, kTrampoline);
  EXPECT_FALSE(stack.frames[1].exact);
  EXPECT_EQ(stack.frames[1].lookup_address(), kTrampoline - 1);
  EXPECT_EQ(stack.frames[2].address, kInterrupted + 0x20);
  EXPECT_EQ(stack.frames[2].source, GetParam());
}

TEST_P(TrampolineTest, IsNotDecidedWithoutTheStack) {
  EXPECT_EQ(Walk(1 + 184 / 8), EndReason::kStackCopy) << "up to the segments";
  EXPECT_EQ(stack.frames.size(), 1u) << "nobody knows whose frame it is";
}

// A context that says that it was itself interrupted where it lies.
TEST_P(TrampolineTest, InterruptedForEver) {
  words[1 + 160 / 8] = kStack;
  words[1 + 168 / 8] = kTables + kHandler;
  EXPECT_EQ(Walk(words.size()), EndReason::kFrameLimit);
  EXPECT_EQ(stack.frames.size(), words.size() + 2) << "more than the words of the stack can be return addresses of";
}

// A trampoline that no table describes, in a module with tables and in one without (musl's), or that one describes as
// any function (Go's), behind nothing or behind another function.
TEST_F(WalkTest, UndescribedTrampoline) {
  words.resize(80);
  for (const size_t at : {1, 3, 5}) words[at] = kTables + kPlain + 0x20;  // the handler's
  for (const uint64_t trampoline :
       {kTables + kUndescribed + 8, kBare + 0x1010, kGenerated + 0x1010, kTables + kLosesFp, kTables + kByFrame}) {
    // At word 8 struct ucontext: flags, no link; rsp and rip, the segments, the state of the floating point unit.
    words[7] = trampoline;
    words[8] = 7;
    words[8 + 160 / 8] = kStack + 70 * 8;
    words[8 + 168 / 8] = kTables + kOutermost + 4;
    words[8 + 184 / 8] = 0x002b000000000033;
    words[8 + 224 / 8] = kStack + 8 * 8 + 448;
    EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
    ASSERT_EQ(stack.frames.size(), 6u);
    EXPECT_TRUE(stack.frames[4].exact);
    EXPECT_EQ(stack.frames[5].address, kOutermost + 4);
    EXPECT_EQ(stack.frames[5].source, FrameSource::kSignalTrampoline);
    words[8] = 8;  // nothing that a kernel makes
    Walk(kTables + kPlain);
    ASSERT_EQ(stack.frames.size(), 5u);
    EXPECT_FALSE(stack.frames[4].exact) << "then it has been called";
  }
}

// glibc 2.36's clone3, whose tables leave out the system call, at 0x17, and what follows: test %rax, %rax; jl; je; ret.
// Behind that, at 0x21, is the child's code.
class WalkCloneTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kClone = 0x1000;
  static constexpr uint64_t kCalls = 0x1100;   // CFA = rsp + 16
  static constexpr uint64_t kBegins = 0x1200;  // RA undefined

  void MakeModule(uint32_t hole = 10, std::vector<uint8_t> in_front = {}, std::vector<uint8_t> behind = {0x07, 16}) {
    CfiBytes cfi;
    const size_t cie = cfi.Cie();
    cfi.Fde(cie, kClone, 0x17, in_front);
    cfi.Fde(cie, kClone + 0x17 + hole, 0x15, behind);
    cfi.Fde(cie, kCalls, 0x100, {0x0e, 16});
    cfi.Fde(cie, kBegins, 0x100, {0x07, 16});
    auto module = std::make_shared<Module>();
    module->code = {{0x1000, 0x1300}};
    module->eh_frame = cfi.Table();
    MappedCode code;
    code.begin = kTables + 0x1000;
    code.end = kTables + 0x2000;
    code.bias = kTables;
    code.module = std::move(module);
    space_ = AddressSpace({code});
  }
  // The addresses, and the end.
  std::string Walk(uint64_t offset, uint64_t result, bool in_syscall = true) {
    Registers registers;
    registers.value[kRip] = kTables + kClone + offset;
    registers.value[kRsp] = kStack;
    registers.value[kRax] = result;
    const SpanMemory memory(kStack, std::as_bytes(std::span(words_)));
    UserStack stack;
    Walker(kX86_64).Walk(space_, registers, in_syscall, {memory, kStack, kStack + words_.size() * 8}, &stack);
    std::string text;
    for (const Frame& frame : stack.frames) text += std::to_string(frame.address - 0x1000) + " ";
    return text + std::string(Name(stack.end));
  }

  AddressSpace space_{{}};
  const std::vector<uint64_t> words_ = {kTables + kCalls + 5, 0, kTables + kBegins + 9};
};

TEST_F(WalkCloneTest, TheParentHasItsCallers) {
  MakeModule();
  EXPECT_EQ(Walk(0x19, 4711), "25 261 521 complete");
  EXPECT_EQ(Walk(0x19, static_cast<uint64_t>(-38)), "25 261 521 complete") << "while it waits";
}

TEST_F(WalkCloneTest, TheChildHasNone) {
  MakeModule();
  EXPECT_EQ(Walk(0x19, 0), "25 complete") << "what its stack holds is no return address";
}

TEST_F(WalkCloneTest, NothingElseIsTakenForIt) {
  MakeModule();
  EXPECT_EQ(Walk(0x19, 4711, /*in_syscall=*/false), "25 no row") << "nobody knows of what length the instruction was";
  EXPECT_EQ(Walk(0x18, 4711), "24 no row");
  EXPECT_EQ(Walk(0x1a, 4711), "26 no row");
  MakeModule(25);
  EXPECT_EQ(Walk(0x19, 4711), "25 no row") << "too large";
  MakeModule(10, {0x0e, 16});
  EXPECT_EQ(Walk(0x19, 4711), "25 no row") << "with a frame";
  MakeModule(10, {}, {});
  EXPECT_EQ(Walk(0x19, 4711), "25 no row") << "any function follows";
}

// SFrame says nothing of rbx, which a frame of .eh_frame is found by.
TEST(WalkByRbxTest, AsksTheOtherTableForIt) {
  constexpr uint64_t kSaves = 0x1000;  // CFA = rsp + 16, rbx at CFA - 16
  constexpr uint64_t kByRbx = 0x1100;  // CFA = rbx + 8
  constexpr uint64_t kLast = 0x1200;
  CfiBytes cfi;
  const size_t cie = cfi.Cie();
  cfi.Fde(cie, kSaves, 0x100, {0x0e, 16, 0x83, 2});
  cfi.Fde(cie, kByRbx, 0x100, {0x0c, 3, 8});
  cfi.Fde(cie, kLast, 0x100, {0x07, 16});
  SFrameBuilder sframe;
  sframe.OnStack(kSaves, 0x100, 16);
  auto module = std::make_shared<Module>();
  module->code = {{0x1000, 0x2000}};
  module->eh_frame = cfi.Table();
  module->sframe = sframe.Table();
  MappedCode code;
  code.begin = kTables + 0x1000;
  code.end = kTables + 0x2000;
  code.bias = kTables;
  code.module = module;
  const AddressSpace space({code});
  const std::vector<uint64_t> words = {kStack + 24, kTables + kByRbx + 1, 0, kTables + kLast + 1};
  const SpanMemory memory(kStack, std::as_bytes(std::span(words)));
  const StackCopy copy = {memory, kStack, kStack + words.size() * 8};
  Registers registers;
  registers.value[kRip] = kTables + kSaves;
  registers.value[kRsp] = kStack;
  UserStack stack;
  Walker walker(kX86_64);
  walker.Walk(space, registers, false, copy, &stack);
  EXPECT_EQ(stack.end, EndReason::kComplete) << Name(stack.end);
  ASSERT_EQ(stack.frames.size(), 3u);
  EXPECT_EQ(stack.frames[2].address, kLast + 1);
  EXPECT_EQ(walker.stats().walks, 1u);
  EXPECT_EQ(walker.stats().frames[static_cast<size_t>(FrameSource::kRegisters)], 1u) << "counted once";
  walker = Walker(kX86_64, *ParseUnwindOrder("sframe,fp"));
  walker.Walk(space, registers, false, copy, &stack);
  EXPECT_NE(stack.end, EndReason::kComplete) << "not asked for";
}

TEST_F(WalkTest, NothingIsLeftOfTheWalkBefore) {
  words[1] = kTables + kOutermost + 1;
  EXPECT_EQ(Walk(kTables + kPlain), EndReason::kComplete);
  const Frame* buffer = stack.frames.data();
  EXPECT_EQ(Walk(kTables + kUndescribed), EndReason::kNoRow);
  EXPECT_EQ(stack.frames.size(), 1u);
  EXPECT_EQ(stack.frames.data(), buffer) << "its buffer is used again";
}

}  // namespace
}  // namespace offcpu
