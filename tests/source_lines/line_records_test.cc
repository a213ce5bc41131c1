#include "source_lines/line_records.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string U32(uint32_t number) { return {reinterpret_cast<const char*>(&number), sizeof(number)}; }

// Two texts, a chain of one function at address 1, the end.
std::string Valid() {
  return U32(1) + U32(1) + "f" + U32(1) + U32(3) + "a.c" +                        // texts 0 and 1
         U32(2) + U32(1) + U32(1) + U32(0) + U32(1) + U32(7) + U32(5) + U32(3) +  // 1, 1 function
         U32(3) + U32(static_cast<uint32_t>(DwarfEnd::kDone));
}

LineChain Chain() { return {{.function = "f", .file = "a.c", .line = 7, .column = 5, .start_line = 3}}; }

TEST(LineRecordsTest, TheWriterWritesThisForm) {
  LineRecordWriter writer;
  writer.Add(1, Chain());
  writer.End(DwarfEnd::kDone);
  EXPECT_EQ(writer.Take(), Valid());
  EXPECT_EQ(writer.bytes(), 0);
}

TEST(LineRecordsTest, ATextIsWrittenOnce) {
  LineRecordWriter writer;
  writer.Add(0, Chain());
  const size_t first = writer.Take().size();
  writer.Add(1, Chain());
  EXPECT_EQ(writer.Take().size(), first - U32(1).size() * 4 - 4);
}

TEST(LineRecordsTest, ATextThatIsTooLongIsLeftOut) {
  for (const size_t size : {kMaxLineTextBytes, kMaxLineTextBytes + 1}) {
    const std::string name(size, 'x');
    LineRecordWriter writer;
    writer.Add(0, {{.function = name}});
    const std::string bytes = writer.Take();
    const LineRecords read = ReadLineRecords(bytes, 1);
    EXPECT_EQ(read.chains[0].at(0).function, size == kMaxLineTextBytes ? name : "");
  }
}

TEST(LineRecordsTest, TheReaderReadsIt) {
  const std::string bytes = Valid();
  const LineRecords read = ReadLineRecords(bytes, 2);
  EXPECT_THAT(read.chains, ElementsAre(IsEmpty(), Chain()));
  EXPECT_EQ(read.end, DwarfEnd::kDone);
}

TEST(LineRecordsTest, EveryPrefixIsReadAsFarAsItGoes) {
  const std::string whole = Valid();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const LineRecords read = ReadLineRecords(bytes, 2);
    EXPECT_FALSE(read.end.has_value()) << size;
    EXPECT_EQ(read.chains[1].empty(), size < whole.size() - 8) << size;
  }
}

TEST(LineRecordsTest, WhatIsWrongEndsTheReading) {
  const std::string texts = U32(1) + U32(1) + "f";
  const std::string line = U32(0) + U32(0) + U32(1) + U32(1) + U32(1);
  const auto chains = [](const std::string& bytes) { return ReadLineRecords(bytes, 1).chains[0].size(); };
  EXPECT_EQ(chains(texts + U32(2) + U32(0) + U32(1) + line), 1);
  EXPECT_EQ(chains(texts + U32(2) + U32(1) + U32(1) + line), 0) << "an address that there is not";
  EXPECT_EQ(chains(texts + U32(2) + U32(0) + U32(0)), 0) << "no function";
  EXPECT_EQ(chains(texts + U32(2) + U32(0) + U32(1) + U32(1) + line), 0) << "no such text";
  EXPECT_EQ(chains(texts + U32(4) + U32(2) + U32(0) + U32(1) + line), 0) << "no such record";
  std::string many;
  for (size_t i = 0; i < kMaxInlined; ++i) many += line;
  EXPECT_EQ(chains(texts + U32(2) + U32(0) + U32(kMaxInlined) + many), kMaxInlined);
  EXPECT_EQ(chains(texts + U32(2) + U32(0) + U32(kMaxInlined + 1) + many + line), 0);
  EXPECT_FALSE(ReadLineRecords(U32(3) + U32(4), 1).end.has_value()) << "no such end";
}

}  // namespace
}  // namespace offcpu
