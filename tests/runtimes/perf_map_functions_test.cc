#include "runtimes/perf_map/functions.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/listed_names.h"

namespace offcpu {
namespace {

ModuleNames NamesIn(const std::string& map, const std::vector<uint64_t>& addresses) {
  const PerfMapFunctions functions(std::make_unique<SpanMemory>(0, std::as_bytes(std::span(map))), map.size());
  return NamesFrom(&functions, addresses);
}

std::string NameAt(const std::string& map, uint64_t address) { return NamesIn(map, {address}).names[0]; }

TEST(PerfMapTest, EachLineIsAFunction) {
  const std::string table =
      ("7f0000001000 20 LazyCompile:*inner /srv/app.js:3\n"
       "0x7f0000001020 0x10 void Main.run(int, java.lang.String)\n"
       "7f0000002000 1 one\n");
  EXPECT_EQ(NameAt(table, 0x7f0000000fff), "");
  EXPECT_EQ(NameAt(table, 0x7f0000001000), "LazyCompile:*inner /srv/app.js:3");
  EXPECT_EQ(NameAt(table, 0x7f000000101f), "LazyCompile:*inner /srv/app.js:3");
  EXPECT_EQ(NameAt(table, 0x7f0000001020), "void Main.run(int, java.lang.String)");
  EXPECT_EQ(NameAt(table, 0x7f0000001030), "");
  EXPECT_EQ(NameAt(table, 0x7f0000002000), "one");
  EXPECT_EQ(NameAt(table, 0x7f0000002001), "");
}

TEST(PerfMapTest, LaterCodeTakesThePlaceOfEarlierCode) {
  const std::string table =
      ("1000 100 first\n"
       "1800 100 apart\n"
       "1040 20 inside\n"
       "1080 100 over the end\n"
       "0f80 a0 over the begin\n"
       "1050 4 inside the inside\n");
  EXPECT_EQ(NameAt(table, 0xf80), "over the begin");
  EXPECT_EQ(NameAt(table, 0x101f), "over the begin");
  EXPECT_EQ(NameAt(table, 0x1020), "first");
  EXPECT_EQ(NameAt(table, 0x1040), "inside");
  EXPECT_EQ(NameAt(table, 0x1050), "inside the inside");
  EXPECT_EQ(NameAt(table, 0x1054), "inside");
  EXPECT_EQ(NameAt(table, 0x1060), "first");
  EXPECT_EQ(NameAt(table, 0x1080), "over the end");
  EXPECT_EQ(NameAt(table, 0x117f), "over the end");
  EXPECT_EQ(NameAt(table, 0x1180), "");
  EXPECT_EQ(NameAt(table, 0x1800), "apart");
}

TEST(PerfMapTest, TheSamePlaceHasItsLastName) {
  const std::string table = ("1000 10 zz_old\n1000 10 new\n2000 10 old\n1ff0 40 new around it\n");
  EXPECT_EQ(NameAt(table, 0x1008), "new");
  EXPECT_EQ(NameAt(table, 0x2008), "new around it");
}

TEST(PerfMapTest, TheLineThatIsBeingWrittenIsNoneYet) {
  EXPECT_EQ(NameAt(("1000 10 whole\n1000 10 whol"), 0x1000), "whole");
  EXPECT_EQ(NameAt("1000 10 never ended", 0x1000), "");
  EXPECT_EQ(NameAt("", 0x1000), "");
}

TEST(PerfMapTest, LinesThatAreNoneAreSkipped) {
  const std::string table =
      ("\n"
       "garbage\n"
       "1000\n"
       "1000 \n"
       "1000 10\n"
       "1000 10 \n"
       "1000 0 empty\n"
       "ffffffffffffffff 10 wraps\n"
       "1000 ffffffffffffffffff too large a number\n"
       "-1000 10 signed\n"
       "0x 10 nothing\n"
       "2000 10 good\n");
  EXPECT_EQ(NameAt(table, 0x1000), "");
  EXPECT_EQ(NameAt(table, 0x2000), "good");
}

TEST(PerfMapTest, LongNamesAreCut) {
  const std::string table = ("1000 10 " + std::string(100'000, 'x') + "\n");
  EXPECT_EQ(NameAt(table, 0x1000), std::string(8192, 'x'));
}

// Lines longer than a piece, and pieces that end anywhere.
TEST(PerfMapTest, LinesMayBeOfAnyLength) {
  std::string map;
  for (uint64_t i = 0; i < 40; ++i) {
    map += std::to_string(1000 + i) + " 1 name" + std::to_string(i) + std::string(i * 7919, 'y') + "\n";
  }
  for (uint64_t i = 0; i < 40; ++i) {
    const uint64_t address = std::stoull(std::to_string(1000 + i), nullptr, 16);
    EXPECT_TRUE(NameAt(map, address).starts_with("name" + std::to_string(i))) << i;
  }
}

TEST(PerfMapTest, ManyAddressesAtOnce) {
  std::string map;
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < 5000; ++i) {
    char line[64];
    std::snprintf(line, sizeof(line), "%lx 10 f%lu\n", 0x1000 + i * 16, i);
    map += line;
    addresses.push_back(0x1000 + i * 16 + 7);
  }
  const ModuleNames found = NamesIn(map, addresses);
  for (uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(found.names[i], "f" + std::to_string(i));
}

}  // namespace
}  // namespace offcpu
