#include "runtimes/go/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kText = 0x401000;

template <typename T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Two functions of 0x20 bytes with these pc tables, each of up to 16 bytes; as Go 1.18 and later write them.
std::string Table(const std::string& first, const std::string& second, uint32_t second_at = 0x20) {
  std::string bytes;
  Put<uint32_t>(bytes, 0xfffffff1);
  Put<uint16_t>(bytes, 0);  // padding
  Put<uint8_t>(bytes, 1);   // instructions are of whole bytes
  Put<uint8_t>(bytes, 8);   // bytes of a pointer
  Put<uint64_t>(bytes, 2);  // functions
  Put<uint64_t>(bytes, 0);  // files
  Put<uint64_t>(bytes, kText);
  Put<uint64_t>(bytes, 0x48);  // where names begin
  Put<uint64_t>(bytes, 0);     // compilation units
  Put<uint64_t>(bytes, 0);     // file names
  Put<uint64_t>(bytes, 0x48);  // where pc tables begin
  Put<uint64_t>(bytes, 0x70);  // where the functions begin
  std::string tables(8, '\0');
  tables += first;
  tables.resize(24);
  tables += second;
  tables.resize(40);
  bytes += tables;
  // Functions: entry, and where its record is from here; at last where the last one ends.
  Put<uint32_t>(bytes, 0);
  Put<uint32_t>(bytes, 20);
  Put<uint32_t>(bytes, second_at);
  Put<uint32_t>(bytes, 40);
  Put<uint32_t>(bytes, 0x40);
  for (const uint32_t depths : {8u, 24u}) {  // records: entry, name, arguments, deferred calls, the pc table
    for (const uint32_t number : {0u, 0u, 0u, 0u, depths}) Put<uint32_t>(bytes, number);
  }
  return bytes;
}

// Functions that share a pc table, as Go 1.16 and 1.17 write them. They begin at these addresses from the begin of the
// text; at the last one the last of them ends.
std::string SharedTable(const std::vector<uint64_t>& begins, const std::string& depths) {
  std::string bytes;
  Put<uint32_t>(bytes, 0xfffffffa);
  Put<uint16_t>(bytes, 0);                     // padding
  Put<uint8_t>(bytes, 1);                      // instructions are of whole bytes
  Put<uint8_t>(bytes, 8);                      // bytes of a pointer
  Put<uint64_t>(bytes, begins.size() - 1);     // functions
  Put<uint64_t>(bytes, 0);                     // files
  Put<uint64_t>(bytes, 0x40);                  // where names begin
  Put<uint64_t>(bytes, 0);                     // compilation units
  Put<uint64_t>(bytes, 0);                     // file names
  Put<uint64_t>(bytes, 0x40);                  // where pc tables begin
  Put<uint64_t>(bytes, 0x48 + depths.size());  // where the functions begin
  bytes += std::string(8, '\0') + depths;
  for (size_t i = 0; i < begins.size(); ++i) {
    Put<uint64_t>(bytes, kText + begins[i]);
    if (i + 1 < begins.size()) Put<uint64_t>(bytes, 16 * begins.size() - 8);
  }
  Put<uint64_t>(bytes, 0);  // the one record: entry, name, arguments, deferred calls, the pc table
  for (const uint32_t number : {0u, 0u, 0u, 8u}) Put<uint32_t>(bytes, number);
  return bytes;
}

std::vector<CodeRange> WithoutFrames(const std::string& table, uint64_t text) {
  return GoCodeWithoutFrames(SpanMemory(0, std::as_bytes(std::span(table))), table.size(), text);
}

std::vector<StackLandmark> Landmarks(const std::string& table) {
  return GoLandmarks(SpanMemory(0, std::as_bytes(std::span(table))), table.size(), 0);
}

// "begin-end ..." from the begin of the text.
std::string Ranges(const std::string& table, uint64_t text = 0) {
  std::string all;
  for (const CodeRange& range : WithoutFrames(table, text)) {
    all += std::to_string(range.begin - kText) + "-" + std::to_string(range.end - kText) + " ";
  }
  return all;
}

// From -1: 2 is one more, and 0x20 bytes of it.
const std::string kNone = std::string("\x02\x20\x00", 3);
// One more for 4 bytes; 0x18 more for 0x17 bytes; as much less for the rest.
const std::string kMadeAndLeft = std::string("\x02\x04\x30\x17\x2f\x05\x00", 7);

TEST(GoFramesTest, WhereTheStackIsNotDeeper) {
  EXPECT_EQ(Ranges(Table(kNone, kMadeAndLeft)), "0-32 32-36 59-64 ");
  EXPECT_EQ(Ranges(Table(kMadeAndLeft, kNone)), "0-4 27-32 32-64 ");
}

TEST(GoFramesTest, NumbersOfSeveralBytes) {
  // One more for 0x10 bytes, 0x1000 more (0x2000) for the rest.
  EXPECT_EQ(Ranges(Table(std::string("\x02\x10\x80\x40\x10\x00", 6), kNone)), "0-16 32-64 ");
}

TEST(GoFramesTest, DamagedTables) {
  EXPECT_EQ(Ranges(Table(std::string("\x02\x7f", 2), kNone)), "0-32 32-64 ") << "beyond the function";
  EXPECT_EQ(Ranges(Table(std::string("\x02\x00", 2), kNone)), "32-64 ") << "of no bytes";
  EXPECT_EQ(Ranges(Table(std::string("\x02\xff\xff\xff\xff\xff\xff", 7), kNone)), "32-64 ") << "without end";
  EXPECT_EQ(Ranges(Table(kNone, kNone, 0x50)), "0-32 ") << "the second ends before it begins";
  EXPECT_EQ(Ranges(""), "");
}

TEST(GoFramesTest, FunctionsOutOfOrderAreLeftOut) {
  // 0x19 more for 0x20 bytes; 0x18 less for the next.
  const std::string made_first = std::string("\x32\x20\x2f\x20\x00", 5);
  EXPECT_EQ(Ranges(SharedTable({0, 0x40, 0x80}, made_first)), "32-64 96-128 ");
  // That at 0 is behind that at 0x10, which has a frame up to its end.
  EXPECT_EQ(Ranges(SharedTable({0x10, 0x30, 0, 0x40, 0x80}, made_first)), "96-128 ");
}

TEST(GoFramesTest, AsManyStepsAsBytes) {
  constexpr uint64_t kFunctionBytes = 1 << 20;
  // No frame for one byte; then one more and one less in turn, for one byte each.
  std::string depths("\x02\x01\x02\x01", 4);
  while (depths.size() < 2 * kFunctionBytes) depths += "\x02\x01\x01\x01";
  EXPECT_EQ(Ranges(SharedTable({0, kFunctionBytes, 2 * kFunctionBytes}, depths)), "0-1 1048576-1048577 ");
  EXPECT_EQ(Ranges(SharedTable({0, kFunctionBytes, 2 * kFunctionBytes, 3 * kFunctionBytes}, depths)), "");
  std::vector<uint64_t> begins;
  for (uint64_t i = 0; i <= 1 << 17; ++i) begins.push_back(i * kFunctionBytes);
  const std::string table = SharedTable(begins, depths);
  const std::clock_t begin = std::clock();
  EXPECT_EQ(Ranges(table), "");
  // Some hundredths of a second of CPU time; to take all of the steps took many minutes.
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

// The names of both functions are at the begin of the pc tables; the second function's name is moved to byte 8 of them.
TEST(GoFramesTest, WhereStacksBeginAndChange) {
  using Kind = StackLandmark::Kind;
  const auto landmarks = [](std::string name) {
    std::string table = Table("", "");
    name.push_back('\0');
    table.replace(0x48 + 8, name.size(), name);
    table[0x70 + 40 + 4] = 8;
    return Landmarks(table);
  };
  const std::pair<const char*, Kind> known[] = {{"runtime.goexit", Kind::kBase},
                                                {"runtime.goexit.abi0", Kind::kBase},
                                                {"runtime.mcall", Kind::kBaseOfCallee},
                                                {"runtime.clone.abi0", Kind::kBaseOfCallee},
                                                {"runtime.mstart", Kind::kWithoutFrame},
                                                {"runtime.systemstack", Kind::kSwitch},
                                                {"runtime.asmcgocall.abi0", Kind::kSwitch},
                                                {"crosscall_amd64", Kind::kBaseOfCallee},
                                                {"crosscall1", Kind::kBaseOfCallee}};
  for (const auto& [name, kind] : known) {
    EXPECT_THAT(landmarks(name), testing::ElementsAre(StackLandmark{{kText + 32, kText + 64}, kind})) << name;
  }
  for (const char* name : {"runtime.goexit0", "runtime.mstart0", "main.goexit", "runtime.mcall.abi1", ".abi0"}) {
    EXPECT_TRUE(landmarks(name).empty()) << name;
  }
}

// As gcc_amd64.S of Go's runtime/cgo says it.
TEST(GoFramesTest, WhereCgoStartsThreads) {
  std::vector<std::byte> code(100, std::byte{0xcc});
  EXPECT_EQ(FindCgoThreadStart(code, kText), std::nullopt);
  const std::string start =
      "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57"       // push %rbx, %rbp, %r12 to %r15
      "\x48\x89\xfb\x48\x89\xd7\xff\xd6\xff\xd3"       // mov %rdi, %rbx; mov %rdx, %rdi; call *%rsi; call *%rbx
      "\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3";  // pop them; ret
  for (size_t i = 0; i < start.size(); ++i) code[40 + i] = static_cast<std::byte>(start[i]);
  EXPECT_EQ(FindCgoThreadStart(code, kText),
            (StackLandmark{{kText + 40, kText + 71}, StackLandmark::Kind::kBaseOfCallee}));
  code[70] = std::byte{0xcc};
  EXPECT_EQ(FindCgoThreadStart(code, kText), std::nullopt);
}

TEST(GoFramesTest, EveryPrefixIsSafe) {
  const std::string whole = Table(kNone, kMadeAndLeft);
  for (size_t size = 0; size < whole.size(); ++size) {
    for (const CodeRange& range : WithoutFrames(whole.substr(0, size), 0)) EXPECT_LT(range.begin, range.end);
    Landmarks(whole.substr(0, size));
  }
}

}  // namespace
}  // namespace offcpu
