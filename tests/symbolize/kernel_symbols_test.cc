#include "symbolize/kernel_symbols.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr char kText[] =
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 t __local_alias\n"
    "ffffffff81000100 t schedule\n"
    "ffffffff81000200 D some_data\n"
    "ffffffff81000300 W weak_function\n"
    "ffffffffc0000000 t module_function\t[module]\n"
    "ffffffffc0001000 t bpf_prog_6deef7357e7b4530_sched\t[bpf]\n";

TEST(KernelSymbolsTest, FindsTheFunctionAtOrBelowAnAddress) {
  SymbolTable table = ParseKallsyms(kText);
  EXPECT_EQ(table.Find(0xffffffff80ffffff), std::nullopt);
  EXPECT_EQ(table.Find(0xffffffff81000000), "_stext");
  EXPECT_EQ(table.Find(0xffffffff810000ff), "_stext");
  EXPECT_EQ(table.Find(0xffffffff81000100), "schedule");
  EXPECT_EQ(table.Find(0xffffffff81000280), "schedule");  // data is not code
  EXPECT_EQ(table.Find(0xffffffff81000300), "weak_function");
}

TEST(KernelSymbolsTest, NamesOfModulesAndProgramsAreBare) {
  SymbolTable table = ParseKallsyms(kText);
  EXPECT_EQ(table.Find(0xffffffffc0000010), "module_function");
  EXPECT_EQ(table.Find(0xffffffffc0001010), "bpf_prog_6deef7357e7b4530_sched");
}

TEST(KernelSymbolsTest, HiddenAddressesMakeAnEmptyTable) {
  EXPECT_TRUE(ParseKallsyms("0000000000000000 T _stext\n0000000000000000 t schedule\n").empty());
  EXPECT_TRUE(ParseKallsyms("").empty());
}

TEST(KernelSymbolsTest, OtherLinesAreSkipped) {
  SymbolTable table = ParseKallsyms(
      "\n"
      "no address\n"
      "ffffffff81000000\n"
      "ffffffff81000000 \n"
      "ffffffff81000000 T\n"
      "ffffffff81000000 T \n"
      "ffffffff81000000 T \t[module]\n"
      "ffffffff81000000  T name\n"
      "ffffffff81000000 TT name\n"
      "1ffffffff81000000 T overflow\n"
      "ffffffff81000010 T good\n");
  EXPECT_EQ(table.Find(0xffffffff8100000f), std::nullopt);
  EXPECT_EQ(table.Find(0xffffffff81000010), "good");
}

TEST(KernelSymbolsTest, EveryPrefixKeepsTheLinesThatAreWhole) {
  std::string text = kText;
  size_t second_line = text.find("81000100");
  for (size_t size = 0; size <= text.size(); ++size) {
    SymbolTable table = ParseKallsyms(text.substr(0, size));
    if (size > text.find('\n')) {
      EXPECT_EQ(table.Find(0xffffffff81000000), "_stext") << size;
    }
    if (size < second_line) {
      EXPECT_NE(table.Find(0xffffffff81000100), "schedule") << size;
    }
  }
}

}  // namespace
}  // namespace offcpu
