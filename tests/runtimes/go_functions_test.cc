#include "runtimes/go/functions.h"

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolize/listed_names.h"

namespace offcpu {
namespace {

constexpr uint64_t kText = 0x401000;

// A table, and where the text is if that does not say.
struct Given {
  std::string table;
  uint64_t text = 0;
};

ModuleNames Search(const Given& given, const std::vector<uint64_t>& addresses) {
  const SpanMemory memory(0, std::as_bytes(std::span(given.table)));
  return NamesFrom(GoFunctionsOf(memory, 0, given.table.size(), given.text).get(), addresses);
}

std::string NameAt(const Given& given, uint64_t address) { return Search(given, {address}).names[0]; }

bool IsTable(const std::string& table) { return Search({table}, {}).full; }

template <typename T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Two functions, main.a of 0x20 bytes at the text's begin and main.b of 0x10 bytes behind it, as Go 1.18 and later
// write them.
std::string Table(uint32_t magic = 0xfffffff1, uint64_t text = kText) {
  std::string bytes;
  Put<uint32_t>(bytes, magic);
  Put<uint16_t>(bytes, 0);  // padding
  Put<uint8_t>(bytes, 1);   // instructions are of whole bytes
  Put<uint8_t>(bytes, 8);   // bytes of a pointer
  Put<uint64_t>(bytes, 2);  // functions
  Put<uint64_t>(bytes, 0);  // files
  Put<uint64_t>(bytes, text);
  Put<uint64_t>(bytes, 0x48);  // where names begin
  Put<uint64_t>(bytes, 0);     // compilation units
  Put<uint64_t>(bytes, 0);     // file names
  Put<uint64_t>(bytes, 0);     // pc tables
  Put<uint64_t>(bytes, 0x58);  // where the functions begin
  bytes += std::string("main.a\0main.b\0\0\0", 16);
  // Functions: entry, and where its record is from here; at last where the last one ends.
  Put<uint32_t>(bytes, 0);
  Put<uint32_t>(bytes, 20);
  Put<uint32_t>(bytes, 0x20);
  Put<uint32_t>(bytes, 28);
  Put<uint32_t>(bytes, 0x30);
  // Records: entry, and where the name is.
  Put<uint32_t>(bytes, 0);
  Put<uint32_t>(bytes, 0);
  Put<uint32_t>(bytes, 0x20);
  Put<uint32_t>(bytes, 7);
  return bytes;
}

// The same of Go 1.16 and 1.17, which have whole addresses.
std::string OldTable() {
  std::string bytes;
  Put<uint32_t>(bytes, 0xfffffffa);
  Put<uint16_t>(bytes, 0);
  Put<uint8_t>(bytes, 1);
  Put<uint8_t>(bytes, 8);
  Put<uint64_t>(bytes, 2);     // functions
  Put<uint64_t>(bytes, 0);     // files
  Put<uint64_t>(bytes, 0x40);  // where names begin
  Put<uint64_t>(bytes, 0);     // compilation units
  Put<uint64_t>(bytes, 0);     // file names
  Put<uint64_t>(bytes, 0);     // pc tables
  Put<uint64_t>(bytes, 0x50);  // where the functions begin
  bytes += std::string("main.a\0main.b\0\0\0", 16);
  Put<uint64_t>(bytes, kText);
  Put<uint64_t>(bytes, 40);
  Put<uint64_t>(bytes, kText + 0x20);
  Put<uint64_t>(bytes, 52);
  Put<uint64_t>(bytes, kText + 0x30);
  Put<uint64_t>(bytes, kText);
  Put<uint32_t>(bytes, 0);
  Put<uint64_t>(bytes, kText + 0x20);
  Put<uint32_t>(bytes, 7);
  return bytes;
}

void ExpectBoth(const Given& table) {
  EXPECT_EQ(NameAt(table, kText - 1), "");
  EXPECT_EQ(NameAt(table, kText), "main.a");
  EXPECT_EQ(NameAt(table, kText + 0x1f), "main.a");
  EXPECT_EQ(NameAt(table, kText + 0x20), "main.b");
  EXPECT_EQ(NameAt(table, kText + 0x2f), "main.b");
  EXPECT_EQ(NameAt(table, kText + 0x30), "");
}

TEST(GoFunctionsTest, OfEveryVersion) {
  ExpectBoth({Table(0xfffffff1), 0});
  ExpectBoth({Table(0xfffffff0), 0});
  ExpectBoth({OldTable(), 0});
}

TEST(GoFunctionsTest, TheTextIsKnownWhereTheTableDoesNotSay) { ExpectBoth({Table(0xfffffff1, 0), kText}); }

// A large program's table has more than a hundred MiB. The names lie behind all else.
TEST(GoFunctionsTest, LargeTablesAreSearchedWhereTheyAre) {
  constexpr uint64_t kNames = 65 << 20;
  std::string table = Table();
  const std::string names = table.substr(0x48, 16);
  std::memcpy(table.data() + 0x20, &kNames, sizeof(kNames));
  table.resize(kNames);
  ExpectBoth({table + names, 0});
}

TEST(GoFunctionsTest, OtherVersionsAreNone) {
  EXPECT_TRUE(IsTable(Table()));
  EXPECT_FALSE(IsTable(Table(0xfffffffb)));  // 1.2 to 1.15
  EXPECT_FALSE(IsTable(Table(0)));
  std::string narrow = Table();
  narrow[7] = 4;
  EXPECT_FALSE(IsTable(narrow));
}

TEST(GoFunctionsTest, EveryPrefixIsSafe) {
  for (const std::string& whole : {Table(), OldTable()}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      const Given table = {whole.substr(0, size), 0};
      EXPECT_EQ(NameAt(table, kText + 0x20), "") << size;  // its record is the last thing
    }
  }
}

// Every byte with every value: the sanitizers see what is read.
TEST(GoFunctionsTest, EveryByteMayBeAnything) {
  for (const std::string& whole : {Table(), OldTable()}) {
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const char value : {'\x00', '\x01', '\x7f', '\x80', '\xff'}) {
        std::string bytes = whole;
        bytes[at] = value;
        NameAt({bytes, 0}, kText);
      }
    }
  }
}

}  // namespace
}  // namespace offcpu
