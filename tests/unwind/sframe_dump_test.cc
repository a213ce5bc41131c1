#include "unwind/sframe_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unwind/sframe_builder.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Dump(const SFrameBuilder& bytes, const Machine& machine = kX86_64) {
  const ModuleTable module = bytes.Table();
  auto table = SFrameTable::Open(module, std::vector<CodeRange>{SFrameBuilder::kCode}, machine);
  EXPECT_TRUE(table.ok()) << table.status();
  std::vector<std::string> lines;
  DumpSFrame(**table, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

TEST(SFrameDumpTest, FunctionsAndRows) {
  SFrameBuilder bytes;
  bytes.flags = 5;
  bytes.Function(0x1000, 32, SFrameBuilder::kStart1, {{0, 0x03, 8}, {1, 0x05, 16, 0xf0}, {4, 0x04, 16, 0xf0}});
  bytes.Function(0x1020, 32, SFrameBuilder::kBlocks, {{0, 0x03, 8}, {11, 0x03, 16}}, false, 16);
  bytes.Function(0x1040, 16, SFrameBuilder::kStart1,
                 {{0, 0x0a, 0x33, 0xf8, 0x00, 0x33, 0x00}, {1, 0x08, 0x39, 0, 0x11, 0}}, true);
  bytes.Function(0x1050, 16, SFrameBuilder::kSignal, {});
  bytes.Function(0x1060, 1, SFrameBuilder::kStart1, {{0, 0}});
  EXPECT_THAT(Dump(bytes), ElementsAre("SFrame V3, x86-64, 5 functions, 8 rows, sorted",
                                       "function 0: 0x1000, 32 bytes, 3 rows",                //
                                       "  0x1000 cfa rsp+8 fp - ra *(cfa-8)",                 //
                                       "  0x1001 cfa rsp+16 fp *(cfa-16) ra *(cfa-8)",        //
                                       "  0x1004 cfa rbp+16 fp *(cfa-16) ra *(cfa-8)",        //
                                       "function 1: 0x1020, 32 bytes, 2 rows, blocks of 16",  //
                                       "  +0x0 cfa rsp+8 fp - ra *(cfa-8)",                   //
                                       "  +0xb cfa rsp+16 fp - ra *(cfa-8)",                  //
                                       "function 2: 0x1040, 16 bytes, 2 rows, flexible",      //
                                       "  0x1040 cfa *(rbp-8) fp *(rbp+0) ra *(cfa-8)",       //
                                       "  0x1041 cfa rsp+0 fp - ra rcx+0",                    //
                                       "function 3: 0x1050, 16 bytes, 0 rows, signal",        //
                                       "function 4: 0x1060, 1 bytes, 1 rows",                 //
                                       "  0x1060 outermost"));
}

TEST(SFrameDumpTest, AArch64) {
  SFrameBuilder arm(kAArch64);
  arm.Function(0x1000, 16, SFrameBuilder::kKeyB, {{0, 0x03, 0}, {4, 0x87, 16, 0xf8, 0xf0}, {8, 0x02, 16}});
  EXPECT_THAT(Dump(arm, kAArch64),
              ElementsAre("SFrame V3, aarch64, 1 functions, 3 rows", "function 0: 0x1000, 16 bytes, 3 rows, key b",
                          "  0x1000 cfa sp+0 fp - ra -", "  0x1004 cfa sp+16 fp *(cfa-16) ra *(cfa-8) mangled",
                          "  0x1008 cfa x29+16 fp - ra -"));
}

TEST(SFrameDumpTest, Damage) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 16, 0x40, {});
  bytes.Function(0x2000, 16, SFrameBuilder::kStart1, {{0, 0x03, 8}, {1, 0x63, 8}});
  EXPECT_THAT(Dump(bytes),
              ElementsAre("SFrame V3, x86-64, 2 functions, 2 rows", "function 0: 0x1000, 16 bytes, damaged",
                          "function 1: 0x2000, 16 bytes, 2 rows", "  0x2000 cfa rsp+8 fp - ra *(cfa-8)", "  damaged"));
}

TEST(SFrameDumpTest, RegistersWithoutAName) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 16, SFrameBuilder::kStart1, {{0, 0x24, 0xf9, 0xff, 0x00, 0x80}}, true);
  EXPECT_THAT(Dump(bytes),
              ElementsAre("SFrame V3, x86-64, 1 functions, 1 rows", "function 0: 0x1000, 16 bytes, 1 rows, flexible",
                          "  0x1000 cfa reg8191-32768 fp - ra *(cfa-8)"));
}

}  // namespace
}  // namespace offcpu
