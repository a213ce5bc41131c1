#include "symbolize/symbol_table.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

Symbol Sized(uint64_t begin, uint64_t end, std::string_view name, int rank = 0) {
  return {.begin = begin, .end = end, .sized = true, .rank = rank, .name = name};
}

Symbol Unsized(uint64_t begin, uint64_t limit, std::string_view name, int rank = 0) {
  return {.begin = begin, .end = limit, .sized = false, .rank = rank, .name = name};
}

TEST(SymbolTableTest, ASymbolCoversItsBytesAndNoMore) {
  SymbolTable table({Sized(0x20, 0x30, "b"), Sized(0x10, 0x18, "a")}, {});
  EXPECT_EQ(table.Find(0x0f), std::nullopt);
  EXPECT_EQ(table.Find(0x10), "a");
  EXPECT_EQ(table.Find(0x17), "a");
  EXPECT_EQ(table.Find(0x18), std::nullopt);
  EXPECT_EQ(table.Find(0x20), "b");
  EXPECT_EQ(table.Find(0x2f), "b");
  EXPECT_EQ(table.Find(0x30), std::nullopt);
  EXPECT_EQ(table.Find(UINT64_MAX), std::nullopt);
}

TEST(SymbolTableTest, AnEmptyTableFindsNothing) {
  SymbolTable table({}, {});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.Find(0), std::nullopt);
}

TEST(SymbolTableTest, WithoutASizeASymbolEndsAtTheNextOneOrItsLimit) {
  SymbolTable table({Unsized(0x10, 0x100, "a"), Unsized(0x20, 0x100, "b")}, {});
  EXPECT_EQ(table.Find(0x1f), "a");
  EXPECT_EQ(table.Find(0x20), "b");
  EXPECT_EQ(table.Find(0xff), "b");
  EXPECT_EQ(table.Find(0x100), std::nullopt);
}

TEST(SymbolTableTest, ALabelInsideAFunctionDoesNotHideIt) {
  SymbolTable table({Sized(0x10, 0x30, "f"), Unsized(0x18, 0x100, "label"), Unsized(0x30, 0x40, "g")}, {});
  EXPECT_EQ(table.Find(0x18), "f");
  EXPECT_EQ(table.Find(0x2f), "f");
  EXPECT_EQ(table.Find(0x30), "g");
}

TEST(SymbolTableTest, TheInnerSymbolWinsAndTheOuterOneGoesOn) {
  SymbolTable table(
      {Sized(0, 100, "outer"), Sized(10, 20, "inner"), Sized(50, 60, "inner2"), Sized(52, 54, "innermost")}, {});
  EXPECT_EQ(table.Find(9), "outer");
  EXPECT_EQ(table.Find(10), "inner");
  EXPECT_EQ(table.Find(20), "outer");
  EXPECT_EQ(table.Find(51), "inner2");
  EXPECT_EQ(table.Find(52), "innermost");
  EXPECT_EQ(table.Find(54), "inner2");
  EXPECT_EQ(table.Find(99), "outer");
}

TEST(SymbolTableTest, OfAliasesTheBestIsShown) {
  auto best = [](std::vector<Symbol> symbols) { return std::string(*SymbolTable(std::move(symbols), {}).Find(0)); };
  EXPECT_EQ(best({Sized(0, 8, "local", 1), Sized(0, 8, "global", 0)}), "global");
  EXPECT_EQ(best({Sized(0, 8, "__libc_read"), Sized(0, 8, "__read"), Sized(0, 8, "read")}), "read");
  EXPECT_EQ(best({Sized(0, 8, "read64"), Sized(0, 8, "read")}), "read");
  EXPECT_EQ(best({Sized(0, 8, "bbb"), Sized(0, 8, "aaa")}), "aaa");
}

TEST(SymbolTableTest, ItOwnsTheBytesOfTheNames) {
  std::deque<std::string> storage;
  std::string_view name = storage.emplace_back("a");
  SymbolTable table({Sized(0, 8, name)}, std::move(storage));
  SymbolTable moved = std::move(table);
  EXPECT_EQ(moved.Find(0), "a");
}

// Against the definition, address by address.
TEST(SymbolTableTest, RandomOverlapsAgreeWithTheDefinition) {
  std::mt19937 random(1);
  const std::string names = "abcdefghijklmnopqrstuvwxyz";
  for (int round = 0; round < 500; ++round) {
    std::vector<Symbol> symbols;
    for (size_t i = 0; i < 12; ++i) {
      uint64_t begin = random() % 60;
      symbols.push_back(Sized(begin, begin + random() % 30, std::string_view(names).substr(i, 1)));
    }
    SymbolTable table(symbols, {});
    for (uint64_t address = 0; address < 100; ++address) {
      const Symbol* want = nullptr;
      for (const Symbol& symbol : symbols) {
        // Only the first name of one begin counts, however short the symbol is.
        bool hidden = false;
        for (const Symbol& other : symbols) hidden |= other.begin == symbol.begin && other.name < symbol.name;
        if (hidden || address < symbol.begin || address >= symbol.end) continue;
        if (want == nullptr || symbol.begin > want->begin) want = &symbol;
      }
      ASSERT_EQ(table.Find(address), want == nullptr ? std::nullopt : std::optional(want->name)) << address;
    }
  }
}

}  // namespace
}  // namespace offcpu
