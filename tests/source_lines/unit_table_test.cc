#include "source_lines/unit_table.h"

#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Range = std::tuple<uint64_t, uint64_t, uint64_t>;

std::string Little(uint64_t number, size_t bytes) { return {reinterpret_cast<const char*>(&number), bytes}; }

// A set of the unit at 0x70 with two ranges, in the form of 32 bits.
std::string Set() {
  const std::string body = Little(2, 2) + Little(0x70, 4) + Little(8, 1) + Little(0, 1) + Little(0, 4) +  // header
                           Little(0x1000, 8) + Little(0x10, 8) +                                          // a range
                           Little(0x2000, 8) + Little(0x20, 8) +                                          // another one
                           Little(0, 8) + Little(0, 8);                                                   // the end
  return Little(body.size(), 4) + body;
}

// The same of the unit at 0x90 in the form of 64 bits, with addresses of 4 bytes and one range.
std::string LongSet() {
  const std::string body = Little(2, 2) + Little(0x90, 8) + Little(4, 1) + Little(0, 1) +  // 24 bytes with the length
                           Little(0x3000, 4) + Little(0x30, 4) + Little(0, 4) + Little(0, 4);
  return Little(0xffff'ffff, 4) + Little(body.size(), 8) + body;
}

std::vector<Range> Ranges(const std::string& table, size_t at_most = 100) {
  std::vector<Range> ranges;
  ReadUnitTable(std::as_bytes(std::span(table)), [&](uint64_t unit, uint64_t begin, uint64_t end) {
    ranges.emplace_back(unit, begin, end);
    return ranges.size() < at_most;
  });
  return ranges;
}

TEST(UnitTableTest, HasTheRangesOfAllSets) {
  EXPECT_THAT(Ranges(Set() + LongSet()),
              ElementsAre(Range(0x70, 0x1000, 0x1010), Range(0x70, 0x2000, 0x2020), Range(0x90, 0x3000, 0x3030)));
  EXPECT_THAT(Ranges(Set() + LongSet(), 1), ElementsAre(Range(0x70, 0x1000, 0x1010)));
}

TEST(UnitTableTest, EveryPrefixHasTheRangesOfItsWholeSets) {
  const std::string table = Set() + LongSet();
  for (size_t size = 0; size < table.size(); ++size) {
    const std::vector<char> bytes(table.begin(), table.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(Ranges({bytes.begin(), bytes.end()}).size(), size < Set().size() ? 0 : 2) << size;
  }
}

TEST(UnitTableTest, AnotherVersionSegmentsOrAddressesEndIt) {
  for (const size_t at : {4, 10, 11}) {
    std::string table = Set() + LongSet();
    table[at] = 3;
    EXPECT_THAT(Ranges(table), IsEmpty()) << at;
  }
}

TEST(UnitTableTest, ARangeEndsAtTheLastAddress) {
  std::string table = Set();
  table.replace(24, 8, Little(UINT64_MAX, 8));
  EXPECT_EQ(Ranges(table).at(0), Range(0x70, 0x1000, UINT64_MAX));
}

}  // namespace
}  // namespace offcpu
