#include "symbolize/symbol_search.h"

#include <cstdlib>
#include <ctime>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/symbol_table.h"

namespace offcpu {
namespace {

// Symbols with their names, searched for all of some addresses at once.
class SymbolSearchTest : public ::testing::Test {
 protected:
  struct Given {
    uint64_t begin;
    uint64_t end;
    std::string name;
    bool sized = true;
    int rank = 0;
  };

  std::vector<std::string> Search(const std::vector<Given>& symbols, const std::vector<uint64_t>& addresses,
                                  size_t max_bytes = 1 << 20) {
    std::string strings(1, '\0');
    std::vector<uint64_t> at;
    for (const Given& given : symbols) {
      at.push_back(strings.size());
      strings += given.name + '\0';
    }
    const SpanMemory memory(0, std::as_bytes(std::span(strings)));
    NameSource names(memory, 0, strings.size(), std::string(1, '\0'), {".L"});
    SymbolSearch search(addresses);
    for (size_t i = 0; i < symbols.size(); ++i) {
      const Given& given = symbols[i];
      search.Add({.begin = given.begin,
                  .end = given.end,
                  .sized = given.sized,
                  .rank = given.rank,
                  .key = given.begin,
                  .names = &names,
                  .name = at[i]});
    }
    left_out_ = 0;
    return search.Names(max_bytes, &left_out_);
  }
  std::string At(uint64_t address, const std::vector<Given>& symbols) { return Search(symbols, {address})[0]; }

  uint64_t left_out_ = 0;
};

TEST_F(SymbolSearchTest, TheOneThatBeginsLastWins) {
  const std::vector<Given> nested = {{0x10, 0x50, "outer"}, {0x20, 0x30, "inner"}};
  EXPECT_EQ(Search(nested, {0xf, 0x10, 0x1f, 0x20, 0x2f, 0x30, 0x4f, 0x50}),
            (std::vector<std::string>{"", "outer", "outer", "inner", "inner", "outer", "outer", ""}));
}

TEST_F(SymbolSearchTest, RankThenUnderscoresThenLengthThenBytes) {
  EXPECT_EQ(At(0x10, {{0x10, 0x20, "worse", true, 1}, {0x10, 0x20, "much_better", true, 0}}), "much_better");
  EXPECT_EQ(At(0x10, {{0x10, 0x20, "__read"}, {0x10, 0x20, "read_it"}, {0x10, 0x20, "read"}}), "read");
  EXPECT_EQ(At(0x10, {{0x10, 0x20, "b"}, {0x10, 0x20, "a"}}), "a");
}

TEST_F(SymbolSearchTest, WithoutASizeItEndsWhereTheNextBegins) {
  const std::vector<Given> symbols = {{0x10, 0x100, "a", false}, {0x20, 0x24, "b"}, {0x30, 0x100, "c", false}};
  EXPECT_EQ(Search(symbols, {0x1f, 0x20, 0x24, 0x30, 0xff, 0x100}),
            (std::vector<std::string>{"a", "b", "", "c", "c", ""}));
}

TEST(SymbolSearchLimitTest, WithoutASizeItEndsWhereAnythingElseBegins) {
  const std::string strings("\0a", 2);
  const SpanMemory memory(0, std::as_bytes(std::span(strings)));
  NameSource names(memory, 0, strings.size(), std::string(1, '\0'));
  SymbolSearch search(std::vector<uint64_t>{0x10, 0x1f, 0x20, 0x30});
  search.Add({.begin = 0x10, .end = 0x100, .sized = false, .rank = 0, .key = 0x10, .names = &names, .name = 1});
  uint64_t left_out = 0;
  EXPECT_EQ(search.Names(100, &left_out), (std::vector<std::string>{"a", "a", "a", "a"}));
  search.AddBound(0x30);
  EXPECT_EQ(search.Names(100, &left_out), (std::vector<std::string>{"a", "a", "a", ""}));
  search.AddBound(0x10);
  search.LimitUnsized([](uint64_t begin, uint64_t address) { return begin == 0x10 && address < 0x20; });
  EXPECT_EQ(search.Names(100, &left_out), (std::vector<std::string>{"a", "a", "", ""}));
}

TEST_F(SymbolSearchTest, ALabelInsideOfAFunctionIsNothing) {
  EXPECT_EQ(Search({{0x10, 0x30, "f"}, {0x20, 0x100, "label", false}}, {0x1f, 0x20, 0x2f, 0x30}),
            (std::vector<std::string>{"f", "f", "f", ""}));
  EXPECT_EQ(At(0x20, {{0x20, 0x30, ".L1"}, {0x10, 0x30, "f"}}), "f") << "not a name";
}

TEST_F(SymbolSearchTest, RoomForNamesIsBounded) {
  const auto names = Search({{0x10, 0x20, "aaaa"}, {0x20, 0x30, "bbbb"}, {0x30, 0x40, "cc"}}, {0x10, 0x20, 0x30}, 6);
  EXPECT_EQ(names, (std::vector<std::string>{"aaaa", "", "cc"}));
  EXPECT_EQ(left_out_, 1u);
}

TEST_F(SymbolSearchTest, NoAddressesIsNothing) { EXPECT_TRUE(Search({{0x10, 0x20, "a"}}, {}).empty()); }

// The table that holds all symbols says the same, where all that begin at one address are of one length.
TEST_F(SymbolSearchTest, AgreesWithAWholeTable) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Given> symbols;
    std::map<uint64_t, uint64_t> ends;
    for (int i = 0; i < 40; ++i) {
      const uint64_t begin = random() % 200;
      const uint64_t end = ends.try_emplace(begin, begin + 1 + random() % 40).first->second;
      const bool sized = begin % 3 != 0;
      std::string name(1 + random() % 3, static_cast<char>('a' + random() % 26));
      symbols.push_back({begin, sized ? end : 250, name, sized, static_cast<int>(random() % 2)});
    }
    std::vector<Symbol> all;
    for (const Given& given : symbols) all.push_back({given.begin, given.end, given.sized, given.rank, given.name});
    const SymbolTable table(std::move(all), {});
    std::vector<uint64_t> addresses;
    for (uint64_t address = 0; address < 260; ++address) {
      if (random() % 3 == 0) addresses.push_back(address);
    }
    const std::vector<std::string> names = Search(symbols, addresses);
    for (size_t i = 0; i < addresses.size(); ++i) {
      EXPECT_EQ(names[i], std::string(table.Find(addresses[i]).value_or(""))) << round << " " << addresses[i];
    }
  }
}

// Millions of names of thousands of bytes at one address: each comparison is of all of their bytes.
TEST_F(SymbolSearchTest, MillionsAtOneAddressCostLittle) {
  const std::string strings(16384, 'x');
  const SpanMemory memory(0, std::as_bytes(std::span(strings)));
  NameSource names(memory, 0, strings.size(), std::string(1, '\0'));
  SymbolSearch search(std::vector<uint64_t>{0x1000, 0x1008});
  const std::clock_t begin = std::clock();  // of this process alone, whatever else runs
  for (uint64_t i = 0; i < 2'800'000; ++i) {
    search.Add({.begin = 0x1000, .end = 0x1010, .sized = true, .key = 0x1000, .names = &names, .name = i % 4096});
  }
  uint64_t left_out = 0;
  EXPECT_EQ(search.Names(1 << 20, &left_out)[1].size(), kMaxSymbolNameBytes);
  // It took 40 s, and takes a part of one; without optimization or with sanitizers a few.
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace offcpu
