#include "unwind/sframe.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unwind/sframe_builder.h"
#include "tests/unwind/sframe_object.h"
#include "unwind/apply.h"

namespace offcpu {
namespace {

constexpr uint8_t kStart1 = SFrameBuilder::kStart1;
constexpr ValueRule kRaAtCfa = {.offset = -8, .place = Place::kAtCfa, .reg = 0};
constexpr ValueRule kUnchangedFp = {.offset = 0, .place = Place::kUnchanged, .reg = 0};

// [begin, end): CFA = rsp + offset.
UnwindRow OnStack(uint64_t begin, uint64_t end, int32_t offset) {
  return {.begin = begin,
          .end = end,
          .cfa = {.offset = offset, .addend = 0, .reg = kRsp, .deref = false},
          .ra = kRaAtCfa,
          .fp = kUnchangedFp,
          .source = FrameSource::kSFrame};
}

// A table with what it refers to.
struct Opened {
  Opened(ModuleTable bytes, std::vector<CodeRange> code, const Machine& machine = kX86_64) : module(std::move(bytes)) {
    auto opened = SFrameTable::Open(module, code, machine);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (opened.ok()) table = *std::move(opened);
  }
  explicit Opened(const SFrameBuilder& bytes) : Opened(bytes.Table(), {SFrameBuilder::kCode}) {}

  UnwindRow RowAt(uint64_t address) {
    UnwindRow row;
    EXPECT_EQ(table->Find(address, &row), FindOutcome::kFound) << std::hex << address;
    EXPECT_LE(row.begin, address);
    EXPECT_GT(row.end, address);
    return row;
  }
  FindOutcome OutcomeAt(uint64_t address) {
    UnwindRow row;
    row.begin = 77;
    const FindOutcome outcome = table->Find(address, &row);
    EXPECT_EQ(row.begin == 77, outcome != FindOutcome::kFound) << "a row is set if and only if it was found";
    return outcome;
  }

  ModuleTable module;
  std::unique_ptr<SFrameTable> table;
};

absl::StatusCode CodeOf(const ModuleTable& module) {
  return SFrameTable::Open(module, std::vector<CodeRange>{SFrameBuilder::kCode}, kX86_64).status().code();
}

TEST(SFrameTableTest, ARowHoldsUntilTheNextOne) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x20, kStart1, {{0, 0x03, 8}, {1, 0x03, 16}, {0x10, 0x03, 8}});
  Opened opened(bytes);
  EXPECT_EQ(opened.RowAt(0x1000), OnStack(0x1000, 0x1001, 8));
  EXPECT_EQ(opened.RowAt(0x1001), OnStack(0x1001, 0x1010, 16));
  EXPECT_EQ(opened.RowAt(0x100f), OnStack(0x1001, 0x1010, 16));
  EXPECT_EQ(opened.RowAt(0x101f), OnStack(0x1010, 0x1020, 8));
  EXPECT_EQ(opened.OutcomeAt(0xfff), FindOutcome::kNotHere);
  EXPECT_EQ(opened.OutcomeAt(0x1020), FindOutcome::kNotHere);
  EXPECT_EQ(opened.table->functions(), 1u);
  EXPECT_EQ(opened.table->bad_entries(), 0u);
}

TEST(SFrameTableTest, NothingIsSaidInFrontOfTheFirstRow) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x20, kStart1, {{4, 0x03, 8}});
  Opened opened(bytes);
  EXPECT_EQ(opened.OutcomeAt(0x1003), FindOutcome::kNotHere);
  EXPECT_EQ(opened.RowAt(0x1004), OnStack(0x1004, 0x1020, 8));
}

TEST(SFrameTableTest, OfEqualStartsTheLastOne) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x20, kStart1, {{0, 0x03, 8}, {4, 0x03, 16}, {4, 0x03, 24}, {0x20, 0x03, 32}});
  Opened opened(bytes);
  EXPECT_EQ(opened.RowAt(0x1003), OnStack(0x1000, 0x1004, 8));
  EXPECT_EQ(opened.RowAt(0x101f), OnStack(0x1004, 0x1020, 24));
}

TEST(SFrameTableTest, RowsOfBlocks) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x28, SFrameBuilder::kBlocks, {{0, 0x03, 8}, {11, 0x03, 16}}, false, 16);
  Opened opened(bytes);
  EXPECT_EQ(opened.RowAt(0x1000), OnStack(0x1000, 0x100b, 8));
  EXPECT_EQ(opened.RowAt(0x100f), OnStack(0x100b, 0x1010, 16));
  EXPECT_EQ(opened.RowAt(0x1010), OnStack(0x1010, 0x101b, 8));
  EXPECT_EQ(opened.RowAt(0x101b), OnStack(0x101b, 0x1020, 16));
  EXPECT_EQ(opened.RowAt(0x1027), OnStack(0x1020, 0x1028, 8)) << "the last block is cut off";
  EXPECT_EQ(opened.OutcomeAt(0x1028), FindOutcome::kNotHere);
}

TEST(SFrameTableTest, FunctionsInAnyOrder) {
  SFrameBuilder bytes;
  bytes.flags = 5;  // sorted, it says
  bytes.Function(0x3000, 0x10, kStart1, {{0, 0x03, 24}});
  bytes.Function(0x1000, 0x10, kStart1, {{0, 0x03, 8}});
  bytes.Function(0x2000, 0x10, kStart1, {{0, 0x03, 16}});
  Opened opened(bytes);
  EXPECT_EQ(opened.RowAt(0x1008).cfa.offset, 8);
  EXPECT_EQ(opened.RowAt(0x2008).cfa.offset, 16);
  EXPECT_EQ(opened.RowAt(0x3008).cfa.offset, 24);
  EXPECT_EQ(opened.OutcomeAt(0x1010), FindOutcome::kNotHere);
}

TEST(SFrameTableTest, EmptyFunctionsCoverNothing) {
  for (bool first : {false, true}) {
    SFrameBuilder bytes;
    if (first) bytes.Function(0x1000, 0, kStart1, {{0, 0x03, 24}});
    bytes.Function(0x1000, 0x10, kStart1, {{0, 0x03, 8}});
    if (!first) bytes.Function(0x1000, 0, kStart1, {{0, 0x03, 24}});
    bytes.Function(0x1008, 0, kStart1, {{0, 0x03, 24}});
    Opened opened(bytes);
    EXPECT_EQ(opened.RowAt(0x1000), OnStack(0x1000, 0x1010, 8));
    EXPECT_EQ(opened.RowAt(0x100c), OnStack(0x1000, 0x1010, 8));
    EXPECT_EQ(opened.table->bad_entries(), 0u);
  }
}

TEST(SFrameTableTest, OfFunctionsThatOverlapTheFirst) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x20, kStart1, {{0, 0x03, 8}});
  bytes.Function(0x1010, 0x20, kStart1, {{0, 0x03, 16}});
  bytes.Function(0x1020, 0x10, kStart1, {{0, 0x03, 24}});
  Opened opened(bytes);
  EXPECT_EQ(opened.RowAt(0x1018).cfa.offset, 8);
  EXPECT_EQ(opened.RowAt(0x1020).cfa.offset, 24);
  EXPECT_EQ(opened.table->bad_entries(), 1u);
}

TEST(SFrameTableTest, FunctionsOutsideTheCodeAreLeftOut) {
  SFrameBuilder bytes;
  bytes.Function(0x4ff0, 0x10, kStart1, {{0, 0x03, 8}});                 // up to the end
  bytes.Function(0x4fe0, 0x21, kStart1, {{0, 0x03, 8}});                 // beyond it
  bytes.Function(0xff0, 0x10, kStart1, {{0, 0x03, 8}});                  // in front
  bytes.Function(0x5000, 0x10, kStart1, {{0, 0x03, 8}});                 // behind
  bytes.Function(UINT64_MAX - 7, 0x10, kStart1, {{0, 0x03, 8}});         // around the end of all addresses
  bytes.Function(0x1000, UINT32_MAX, kStart1, {{0, 0x03, 8}});           // too large
  bytes.Function(0x4fe0 + (1ull << 32), 0x10, kStart1, {{0, 0x03, 8}});  // far away
  Opened opened(bytes);
  EXPECT_EQ(opened.table->functions(), 1u);
  EXPECT_EQ(opened.table->bad_entries(), 6u);
  EXPECT_EQ(opened.RowAt(0x4fff), OnStack(0x4ff0, 0x5000, 8));
  for (uint64_t address : std::vector<uint64_t>{0x4fef, 0xff8, 0x5000, UINT64_MAX, 0, 0x1008}) {
    EXPECT_EQ(opened.OutcomeAt(address), FindOutcome::kNotHere) << std::hex << address;
  }
}

TEST(SFrameTableTest, ADamagedFunctionCostsItself) {
  SFrameBuilder bytes;
  const uint32_t good = bytes.Function(0x1000, 0x10, kStart1, {{0, 0x03, 8}});
  bytes.Function(0x2000, 0x10, 0x40, {{0, 0x03, 8}});  // a bit that nobody knows
  bytes.Element(0x3000, 0x10, 0xffffffff);             // attributes nowhere
  bytes.Element(0x4000, 0x10, good);
  bytes.row_count = 3;
  Opened opened(bytes);
  EXPECT_EQ(opened.OutcomeAt(0x1000), FindOutcome::kFound);
  EXPECT_EQ(opened.OutcomeAt(0x2000), FindOutcome::kCorrupt);
  EXPECT_EQ(opened.OutcomeAt(0x300f), FindOutcome::kCorrupt);
  EXPECT_EQ(opened.OutcomeAt(0x3010), FindOutcome::kNotHere);
  EXPECT_EQ(opened.OutcomeAt(0x4000), FindOutcome::kFound) << "rows may be shared";
  EXPECT_EQ(opened.table->bad_entries(), 2u);
}

TEST(SFrameTableTest, MoreRowsThanTheHeaderSaysCostTheFunctionsThatComeLate) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x10, kStart1, {{0, 0x03, 8}, {1, 0x03, 16}});
  bytes.Function(0x2000, 0x10, kStart1, {{0, 0x03, 8}});
  bytes.row_count = 2;
  Opened opened(bytes);
  EXPECT_EQ(opened.OutcomeAt(0x1000), FindOutcome::kFound);
  EXPECT_EQ(opened.OutcomeAt(0x2000), FindOutcome::kCorrupt);
  EXPECT_EQ(opened.table->bad_entries(), 1u);
}

// Where the row behind is damaged, it is not known how far a row holds.
TEST(SFrameTableTest, ADamagedRow) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x20, kStart1, {{0, 0x03, 8}, {1, 0x03, 16}, {8, 0x63, 8}, {9, 0x03, 24}});
  Opened opened(bytes);
  EXPECT_EQ(opened.RowAt(0x1000), OnStack(0x1000, 0x1001, 8));
  for (uint64_t address : {0x1001, 0x1008, 0x101f}) {
    EXPECT_EQ(opened.OutcomeAt(address), FindOutcome::kCorrupt) << std::hex << address;
  }
}

TEST(SFrameTableTest, OutermostFunctions) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x10, kStart1, {});
  bytes.Function(0x2000, 0x10, kStart1, {{0, 0x03, 8}, {2, 0x00}});
  Opened opened(bytes);
  const UnwindRow row = opened.RowAt(0x1008);
  EXPECT_EQ(row.ra.place, Place::kUndefined);
  EXPECT_EQ(row.begin, 0x1000u);
  EXPECT_EQ(row.end, 0x1010u);
  EXPECT_FALSE(row.signal);
  EXPECT_EQ(row.source, FrameSource::kSFrame);
  EXPECT_EQ(opened.RowAt(0x2001), OnStack(0x2000, 0x2002, 8));
  EXPECT_EQ(opened.RowAt(0x2002).ra.place, Place::kUndefined);
}

TEST(SFrameTableTest, SignalFrames) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x10, SFrameBuilder::kSignal, {});
  bytes.Function(0x2000, 0x10, SFrameBuilder::kSignal, {{0, 0x03, 8}});
  Opened opened(bytes);
  UnwindRow expected = KernelContextRow(kX86_64);
  expected.begin = 0x1000;
  expected.end = 0x1010;
  expected.source = FrameSource::kSFrame;
  EXPECT_EQ(opened.RowAt(0x1001), expected);
  expected = OnStack(0x2000, 0x2010, 8);
  expected.signal = true;
  EXPECT_EQ(opened.RowAt(0x2001), expected);
}

struct RuleCase {
  const char* name;
  std::vector<uint8_t> words;
  CfaRule cfa;
  ValueRule ra;
  ValueRule fp;
};

TEST(SFrameTableTest, FlexibleRules) {
  const CfaRule on_stack = {.offset = 8, .addend = 0, .reg = kRsp, .deref = false};
  const RuleCase cases[] = {
      {"r10", {0x51, 0}, {.offset = 0, .addend = 0, .reg = kR10, .deref = false}, kRaAtCfa, kUnchangedFp},
      {"*(rbp-8)",
       {0x33, 0xf8, 0, 0x33, 0},
       {.offset = -8, .addend = 0, .reg = kRbp, .deref = true},
       kRaAtCfa,
       {.offset = 0, .place = Place::kAtRegister, .reg = kRbp}},
      {"RA in rcx",
       {0x39, 8, 0x11, 0},
       on_stack,
       {.offset = 0, .place = Place::kInRegister, .reg = kRcx},
       kUnchangedFp},
      {"FP in r11", {0x39, 8, 0, 0x59, 0}, on_stack, kRaAtCfa, {.offset = 0, .place = Place::kInRegister, .reg = kR11}},
      {"FP is a sum, which is not known then", {0x39, 8, 0, 0x59, 1}, on_stack, kRaAtCfa, {}},
      {"FP in a register without a number", {0x39, 8, 0, 0x81, 0}, on_stack, kRaAtCfa, {}},
  };
  for (const RuleCase& c : cases) {
    std::vector<uint8_t> row = {0, static_cast<uint8_t>(c.words.size() << 1)};
    row.insert(row.end(), c.words.begin(), c.words.end());
    SFrameBuilder bytes;
    bytes.Function(0x1000, 0x10, kStart1, {row}, true);
    Opened opened(bytes);
    const UnwindRow found = opened.RowAt(0x1000);
    EXPECT_EQ(found.cfa, c.cfa) << c.name;
    EXPECT_EQ(found.ra, c.ra) << c.name;
    EXPECT_EQ(found.fp, c.fp) << c.name;
  }
}

TEST(SFrameTableTest, RulesWithoutAForm) {
  const std::vector<uint8_t> cases[] = {
      {0x81, 8},           // CFA on register 16, which is the pc
      {0xf9, 8},           // CFA on register 31
      {0x39, 8, 0x11, 1},  // RA = rcx + 1
      {0x39, 8, 0x81, 0},  // RA in register 16
      {0x39, 8, 0x83, 0},  // RA at register 16
  };
  for (const std::vector<uint8_t>& words : cases) {
    std::vector<uint8_t> row = {0, static_cast<uint8_t>(words.size() << 1)};
    row.insert(row.end(), words.begin(), words.end());
    SFrameBuilder bytes;
    bytes.Function(0x1000, 0x10, kStart1, {row}, true);
    Opened opened(bytes);
    EXPECT_EQ(opened.OutcomeAt(0x1000), FindOutcome::kExpression) << ::testing::PrintToString(words);
  }
}

// GNU as cuts the offset of a return address to words of a size that it has chosen without it.
TEST(SFrameTableTest, ReturnAddressesElsewhereAreBelievedInTheLargestWords) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x10, kStart1, {{0, 0x08, 0x39, 8, 0x02, 0xf8}}, true);
  bytes.Function(0x2000, 0x10, kStart1, {{0, 0x28, 0x39, 0, 8, 0, 0x02, 0, 0xf8, 0xff}}, true);
  bytes.Function(0x3000, 0x10, kStart1,
                 {{0, 0x48,          // four words of four bytes
                   0x39, 0, 0, 0,    // CFA = rsp +
                   8, 0, 0, 0,       // 8
                   0x02, 0, 0, 0,    // RA = *(CFA +
                   0xa8, 0, 0, 0}},  // 168)
                 true);
  Opened opened(bytes);
  EXPECT_EQ(opened.OutcomeAt(0x1000), FindOutcome::kExpression);
  EXPECT_EQ(opened.OutcomeAt(0x2000), FindOutcome::kExpression);
  UnwindRow expected = OnStack(0x3000, 0x3010, 8);
  expected.ra.offset = 168;
  EXPECT_EQ(opened.RowAt(0x3000), expected);
}

TEST(SFrameTableTest, WhatTheAssemblerHasCut) {
  const SFrameObject object = ReadSFrameObject(SFrameFixture("flexible.elf"));
  Opened opened(object.table, object.code);
  ASSERT_EQ(opened.table->functions(), 4u);
  const SFrameFunction function = opened.table->sections()[0].Function(3);
  EXPECT_EQ(opened.OutcomeAt(function.begin), FindOutcome::kFound);
  EXPECT_EQ(opened.OutcomeAt(function.begin + 4), FindOutcome::kExpression);
}

// GNU ld says sp + 16 of .plt.got, where nothing is ever pushed. The addresses are those of readelf and objdump.
TEST(SFrameTableTest, LinkedPlts) {
  struct Stub {
    uint64_t address;
    int32_t cfa_offset;
    uint64_t begin;
    uint64_t end;
  };
  auto check = [](const char* name, const std::vector<Stub>& stubs) {
    const SFrameObject object = ReadSFrameObject(SFrameFixture(name));
    Opened opened(object.table, object.code);
    for (const Stub& stub : stubs) {
      EXPECT_EQ(opened.RowAt(stub.address), OnStack(stub.begin, stub.end, stub.cfa_offset)) << name;
    }
  };
  check("plt_lazy.elf", {{0x2b0, 16, 0x2b0, 0x2b6},   // the first entry: push
                         {0x2b6, 24, 0x2b6, 0x2c0},   // jmp
                         {0x2c0, 8, 0x2c0, 0x2cb},    // a function's: jmp, push
                         {0x2cb, 16, 0x2cb, 0x2d0},   // jmp to the first entry
                         {0x2d6, 8, 0x2d0, 0x2db},    // another function's: push
                         {0x2e0, 8, 0x2e0, 0x2e8},    // .plt.got
                         {0x2ee, 8, 0x2e8, 0x2f0}});  // and its second entry
  check("plt_ibt.elf", {{0x2c4, 8, 0x2c0, 0x2c9},     // endbr64, push
                        {0x2c9, 16, 0x2c9, 0x2d0},    // jmp to the first entry
                        {0x2e4, 8, 0x2e0, 0x2f0},     // .plt.got: endbr64, jmp
                        {0x31a, 8, 0x310, 0x320}});   // .plt.sec
  check("plt_now.elf", {{0x2e0, 8, 0x2e0, 0x2e8}});
}

TEST(SFrameTableTest, AFunctionOfOneRowMayHaveTwoWordsOnTheStack) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x10, kStart1, {{0, 0x03, 16}});
  EXPECT_EQ(Opened(bytes).RowAt(0x1000), OnStack(0x1000, 0x1010, 16)) << "it is no PLT";
}

TEST(SFrameTableTest, SectionsBehindOneAnother) {
  const SFrameObject object = ReadSFrameObject(SFrameFixture("concatenated.elf"));
  Opened opened(object.table, object.code);
  ASSERT_NE(opened.table, nullptr);
  EXPECT_EQ(opened.table->sections().size(), 2u);
  EXPECT_EQ(opened.table->functions(), 7u) << "one of eight is empty";
  EXPECT_EQ(opened.table->bad_entries(), 0u);
  uint64_t covered = 0;
  for (const SFrameSection& section : opened.table->sections()) {
    section.ForEach([&](uint32_t, const SFrameFunction& function) {
      covered += function.size;
      if (function.size == 0) return;
      EXPECT_EQ(opened.RowAt(function.begin).begin, function.begin);
      EXPECT_EQ(opened.RowAt(function.begin + function.size - 1).end, function.begin + function.size);
    });
  }
  EXPECT_EQ(covered, 1u + 7 + 22 + 315 + 140001 + 5 + 1);
}

TEST(SFrameTableTest, WhatFollowsASection) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x10, kStart1, {{0, 0x03, 8}});
  std::vector<uint8_t> all = bytes.Bytes();
  all.resize((all.size() + 7) / 8 * 8 + 40);
  EXPECT_EQ(Opened(SFrameBuilder::TableOf(all), {SFrameBuilder::kCode}).table->sections().size(), 1u) << "zeros";
  const size_t second_at = all.size() - 40;
  all[second_at] = 0xe2;
  all[second_at + 1] = 0xde;
  all[second_at + 2] = 2;
  EXPECT_EQ(CodeOf(SFrameBuilder::TableOf(all)), absl::StatusCode::kUnimplemented) << "a section of version 2";
  all[second_at + 2] = 3;
  EXPECT_EQ(CodeOf(SFrameBuilder::TableOf(all)), absl::StatusCode::kInvalidArgument) << "a damaged section";
}

TEST(SFrameTableTest, TablesThatAreRefused) {
  SFrameBuilder bytes;
  EXPECT_EQ(CodeOf(bytes.Table()), absl::StatusCode::kOk) << "without functions";
  EXPECT_EQ(CodeOf(ModuleTable()), absl::StatusCode::kInvalidArgument);
  bytes.version = 2;
  EXPECT_EQ(CodeOf(bytes.Table()), absl::StatusCode::kUnimplemented);
  bytes.version = 3;
  bytes.flags = 0;
  EXPECT_EQ(CodeOf(bytes.Table()), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(SFrameBuilder(kAArch64).Table()), absl::StatusCode::kInvalidArgument) << "of another machine";
}

TEST(SFrameTableTest, FunctionsOfAArch64) {
  const SFrameObject object = ReadSFrameObject(SFrameFixture("aarch64.elf"));
  Opened opened(object.table, object.code, kAArch64);
  const UnwindRow leaf = opened.RowAt(0x4000b0);
  EXPECT_EQ(leaf.cfa, (CfaRule{.offset = 0, .addend = 0, .reg = kAArch64Sp, .deref = false}));
  EXPECT_EQ(leaf.ra, (ValueRule{.offset = 0, .place = Place::kInRegister, .reg = kX30}));
  EXPECT_EQ(leaf.fp, kUnchangedFp);
  const UnwindRow framed = opened.RowAt(0x4000bc);
  EXPECT_EQ(framed.cfa, (CfaRule{.offset = 32, .addend = 0, .reg = kX29, .deref = false}));
  EXPECT_EQ(framed.ra, (ValueRule{.offset = -24, .place = Place::kAtCfa, .reg = 0}));
  EXPECT_EQ(framed.fp, (ValueRule{.offset = -32, .place = Place::kAtCfa, .reg = 0}));
  EXPECT_FALSE(framed.mangled_ra);
  EXPECT_TRUE(opened.RowAt(0x4000d8).mangled_ra);
  EXPECT_EQ(opened.RowAt(0x4000f4).ra.place, Place::kUndefined);
}

TEST(SFrameTableTest, TheTrampolineOfAArch64) {
  SFrameBuilder bytes(kAArch64);
  bytes.Function(0x1000, 8, SFrameBuilder::kSignal, {});
  Opened opened(bytes.Table(), {SFrameBuilder::kCode}, kAArch64);
  const UnwindRow row = opened.RowAt(0x1000);
  EXPECT_EQ(row.cfa, KernelContextRow(kAArch64).cfa);
  EXPECT_EQ(row.ra, KernelContextRow(kAArch64).ra);
  EXPECT_TRUE(row.signal);
}

TEST(SFrameTableTest, WorkOfALookUp) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x20, kStart1, {{0, 0x03, 8}, {1, 0x03, 16}, {2, 0x03, 24}, {3, 0x03, 32}});
  bytes.Function(0x2000, 0x20, kStart1, std::vector<std::vector<uint8_t>>(65535, {0, 0x03, 8}));
  Opened opened(bytes);
  EXPECT_EQ(opened.table->rows_read(), 0u) << "none to open it";
  EXPECT_GT(opened.table->bytes(), 0u);
  opened.RowAt(0x1001);
  opened.RowAt(0x1003);
  EXPECT_EQ(opened.table->rows_read(), 4u) << "of its function, once";
  const size_t bytes_before = opened.table->bytes();
  opened.RowAt(0x2010);
  EXPECT_EQ(opened.table->rows_read(), 4u + 65535);
  EXPECT_GE(opened.table->bytes(), bytes_before + 65535 * 32);
  for (uint64_t i = 0; i < 4; ++i) opened.RowAt(0x2010 + i);
  EXPECT_EQ(opened.table->rows_read(), 4u + 65535);
}

// Each function of 65,535 rows counts as 65,536.
TEST(SFrameTableTest, AsManyRowsAsAreKept) {
  constexpr uint64_t kFit = kMaxSFramePrepared / 65536;
  SFrameBuilder bytes;
  for (uint64_t i = 0; i < kFit; ++i) {
    bytes.Function(0x1000 + 0x20 * i, 0x20, kStart1, std::vector<std::vector<uint8_t>>(65535, {0, 0x03, 8}));
  }
  bytes.OnStack(0x4000, 0x10, 16);
  Opened opened(bytes);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < kFit; ++i) opened.RowAt(0x1000 + 0x20 * i);
  }
  EXPECT_EQ(opened.table->rows_read(), kFit * 65535);
  const size_t most = opened.table->bytes();
  EXPECT_EQ(opened.RowAt(0x4000), OnStack(0x4000, 0x4010, 16)) << "one too many";
  EXPECT_EQ(opened.RowAt(0x1000), OnStack(0x1000, 0x1020, 8));
  EXPECT_EQ(opened.RowAt(0x4000), OnStack(0x4000, 0x4010, 16));
  EXPECT_EQ(opened.table->rows_read(), kFit * 65535 + 1 + 65535) << "the others had been forgotten";
  EXPECT_EQ(opened.table->bytes(), most);
}

// `count` rows, each of which holds for two bytes: the one at i has CFA = rsp + 8 * (i % 15 + 1).
std::vector<std::vector<uint8_t>> RowsOfTwoBytes(uint32_t count) {
  std::vector<std::vector<uint8_t>> rows;
  for (uint32_t i = 0; i < count; ++i) {
    rows.push_back(
        {static_cast<uint8_t>(2 * i), static_cast<uint8_t>(2 * i >> 8), 0x03, static_cast<uint8_t>(8 * (i % 15 + 1))});
  }
  return rows;
}

TEST(SFrameTableTest, TheRightRowOfMany) {
  for (uint32_t count : {1u, 2u, 3u, 4u, 5u, 63u, 64u, 65u, 8000u}) {
    SFrameBuilder bytes;
    bytes.Function(0x1000, 2 * count, SFrameBuilder::kStart2, RowsOfTwoBytes(count));
    Opened opened(bytes);
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t begin = 0x1000 + 2 * i;
      EXPECT_EQ(opened.RowAt(begin + 1), OnStack(begin, begin + 2, static_cast<int32_t>(8 * (i % 15 + 1))));
    }
    EXPECT_EQ(opened.table->rows_read(), count);
    EXPECT_EQ(opened.OutcomeAt(0x1000 + 2 * count), FindOutcome::kNotHere);
  }
}

TEST(SFrameTableTest, OfManyEqualStartsTheLastOne) {
  SFrameBuilder bytes;
  std::vector<std::vector<uint8_t>> rows(200, {4, 0x03, 8});  // from byte 4 on
  rows.back().back() = 16;
  rows.push_back({8, 0x03, 24});
  bytes.Function(0x1000, 0x20, kStart1, rows);
  Opened opened(bytes);
  EXPECT_EQ(opened.OutcomeAt(0x1003), FindOutcome::kNotHere);
  EXPECT_EQ(opened.RowAt(0x1004), OnStack(0x1004, 0x1008, 16));
  EXPECT_EQ(opened.RowAt(0x1008), OnStack(0x1008, 0x1020, 24));
}

TEST(SFrameTableTest, OneDamagedRowOfMany) {
  SFrameBuilder bytes;
  std::vector<std::vector<uint8_t>> rows = RowsOfTwoBytes(1000);
  rows.back()[2] = 0x63;  // words of a width that does not exist
  bytes.Function(0x1000, 2000, SFrameBuilder::kStart2, rows);
  Opened opened(bytes);
  EXPECT_EQ(opened.OutcomeAt(0x1000), FindOutcome::kFound);
  EXPECT_EQ(opened.OutcomeAt(0x1000 + 2 * 997), FindOutcome::kFound);
  EXPECT_EQ(opened.OutcomeAt(0x1000 + 2 * 998), FindOutcome::kCorrupt) << "nobody knows how far it holds";
  EXPECT_EQ(opened.OutcomeAt(0x1000 + 2 * 999), FindOutcome::kCorrupt);
  EXPECT_EQ(opened.table->rows_read(), 999u) << "it is looked for once";
}

// A table that names one set of attributes so often is as large as the index.
TEST(SFrameTableTest, AsManyFunctionsAsAllowed) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0, kStart1, {});
  for (size_t i = 1; i < kMaxSFrameFunctions; ++i) bytes.Element(0x1000, 0, 0);
  EXPECT_EQ(CodeOf(bytes.Table()), absl::StatusCode::kOk);
  bytes.Element(0x1000, 0, 0);
  EXPECT_EQ(CodeOf(bytes.Table()), absl::StatusCode::kResourceExhausted);
}

TEST(SFrameTableTest, AsManySectionsAsAllowed) {
  SFrameBuilder bytes;
  bytes.Element(0, 0, 0);
  bytes.row_bytes.resize(4);  // a section of 48 bytes
  const std::vector<uint8_t> one = bytes.Bytes();
  std::vector<uint8_t> all;
  for (size_t i = 0; i < kMaxSFrameSections; ++i) all.insert(all.end(), one.begin(), one.end());
  EXPECT_EQ(CodeOf(SFrameBuilder::TableOf(all)), absl::StatusCode::kOk);
  all.insert(all.end(), one.begin(), one.end());
  EXPECT_EQ(CodeOf(SFrameBuilder::TableOf(all)), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace offcpu
