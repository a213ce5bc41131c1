#include "source_lines/source_lines.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "process/elf/file.h"
#include "process/memory.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "FUNCTION LINE", innermost first.
std::vector<std::string> Texts(const LineChain& chain) {
  std::vector<std::string> texts;
  for (const SourceLine& line : chain) {
    EXPECT_EQ(line.file, LINES_SOURCE);
    texts.push_back(std::string(line.function) + " " + std::to_string(line.line));
  }
  return texts;
}

std::string At(const std::string& function, const std::string& comment) {
  return function + " " + std::to_string(LineWith(comment));
}

constexpr char kPop[] = "_ZN7fixture5Queue3PopEi";
constexpr char kHandle[] = "_ZN7fixture6HandleERNS_5QueueEi";
constexpr char kRun[] = "_ZN7fixture3RunEi";

SourceLines LinesOf(const std::string& object, const std::string& file, std::vector<uint64_t>* addresses) {
  for (const char* place : {"place_run", "place_handle", "place_pop", "place_main"})
    addresses->push_back(AddressOf(object, place));
  std::sort(addresses->begin(), addresses->end());
  const OwnedFd fd = OpenLinesFixture(file);
  return ReadSourceLines({.file = fd.get()}, *addresses);
}

void ExpectPlaces(const std::string& object, const std::string& file) {
  std::vector<uint64_t> addresses;
  const SourceLines lines = LinesOf(object, file, &addresses);
  EXPECT_FALSE(lines.is_cut);
  EXPECT_FALSE(lines.is_without_split);
  const auto at = [&](const char* place) {
    const auto it = std::lower_bound(addresses.begin(), addresses.end(), AddressOf(object, place));
    return Texts(lines.chains[static_cast<size_t>(it - addresses.begin())]);
  };
  EXPECT_THAT(at("place_main"), ElementsAre(At("fixture_main", "place_main")));
  EXPECT_THAT(at("place_run"), ElementsAre(At(kRun, "place_run")));
  EXPECT_THAT(at("place_handle"), ElementsAre(At(kHandle, "place_handle"), At(kRun, "call of Handle")));
  EXPECT_THAT(at("place_pop"),
              ElementsAre(At(kPop, "place_pop"), At(kHandle, "call of Pop"), At(kRun, "call of Handle")));
}

class FormTest : public ::testing::TestWithParam<const char*> {};

TEST_P(FormTest, HasFunctionsAndLinesInnermostFirst) {
  const std::string object = std::string(GetParam()) + ".so";
  ExpectPlaces(object, object);
}

INSTANTIATE_TEST_SUITE_P(All, FormTest,
                         ::testing::Values("gcc-2", "gcc-3", "gcc-4", "gcc-5", "gcc-compressed", "gcc-split-4",
                                           "gcc-split-5", "clang-2", "clang-3", "clang-4", "clang-5",
                                           "clang-compressed", "clang-split-4", "clang-split-5", "dwz-1", "dwz-2"));

TEST(SourceLinesTest, ADebugFileHasTheLinesOfItsObject) { ExpectPlaces("stripped.so", "separate.debug"); }

// Without the split unit only the places are known.
void ExpectPlacesWithoutFunctions(const SourceLines& lines) {
  EXPECT_FALSE(lines.is_cut);
  EXPECT_TRUE(lines.is_without_split);
  for (const LineChain& chain : lines.chains) {
    ASSERT_EQ(chain.size(), 1);
    EXPECT_EQ(chain[0].file, LINES_SOURCE);
    EXPECT_NE(chain[0].line, 0);
    EXPECT_EQ(chain[0].function, "");
  }
}

TEST(SourceLinesTest, ASplitUnitThatIsGoneIsMissed) {
  std::vector<uint64_t> addresses;
  ExpectPlacesWithoutFunctions(LinesOf("package/unpacked.so", "package/unpacked.so", &addresses));
}

TEST(SourceLinesTest, APackageOfSplitUnitsIsReadOrMissed) {
  std::vector<uint64_t> addresses;
  const SourceLines lines = LinesOf("package/packed.so", "package/packed.so", &addresses);
  if (lines.is_without_split) return ExpectPlacesWithoutFunctions(lines);  // libdw before 0.191
  ExpectPlaces("package/packed.so", "package/packed.so");
}

#ifndef OFFCPU_SANITIZED
// libdw uncompresses all of it into the memory that it may take.
TEST(SourceLinesTest, CompressedDebugInformationHasToFitIntoMemory) {
  ExpectPlaces("compressed-32.so", "compressed-32.so");
  std::vector<uint64_t> addresses;
  EXPECT_TRUE(LinesOf("compressed-65.so", "compressed-65.so", &addresses).is_cut);
}
#endif

TEST(SourceLinesTest, DamagedCompressedDebugInformationIsTold) {
  std::string bytes = LinesFixture("gcc-compressed.so");
  const SpanMemory memory(0, std::as_bytes(std::span(bytes)));
  const auto elf = ElfFile::Parse(memory);
  ASSERT_TRUE(elf.ok());
  const ElfSection* section = elf->Find(".debug_info");
  ASSERT_NE(section, nullptr);
  bytes.replace(section->offset + sizeof(Elf64_Chdr), 4, "none");
  const OwnedFd fd(memfd_create("damaged", MFD_CLOEXEC));
  ASSERT_EQ(write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const std::vector<uint64_t> addresses = {AddressOf("gcc-compressed.so", "place_pop")};
  EXPECT_TRUE(ReadSourceLines({.file = fd.get()}, addresses).is_cut);
}

TEST(SourceLinesTest, AFunctionBeginsWhereItsSourceSays) {
  std::vector<uint64_t> addresses = {AddressOf("gcc-5.so", "place_run")};
  const OwnedFd fd = OpenLinesFixture("gcc-5.so");
  const SourceLines lines = ReadSourceLines({.file = fd.get()}, addresses);
  ASSERT_EQ(lines.chains[0].size(), 1);
  EXPECT_EQ(lines.chains[0][0].start_line, LineWith("begin of Run"));
  EXPECT_NE(lines.chains[0][0].column, 0);
}

TEST(SourceLinesTest, WithoutDebugInformationNothingIsKnownAndNothingIsCut) {
  const OwnedFd fd = OpenLinesFixture("stripped.so");
  const std::vector<uint64_t> addresses = {0x1000};
  const SourceLines lines = ReadSourceLines({.file = fd.get()}, addresses);
  EXPECT_THAT(lines.chains, ElementsAre(IsEmpty()));
  EXPECT_FALSE(lines.is_cut);
}

TEST(SourceLinesTest, OutsideOfFunctionsNothingIsKnown) {
  const OwnedFd fd = OpenLinesFixture("gcc-5.so");
  const std::vector<uint64_t> addresses = {0, 1, 0x10, uint64_t{1} << 40, UINT64_MAX};
  for (const LineChain& chain : ReadSourceLines({.file = fd.get()}, addresses).chains) EXPECT_THAT(chain, IsEmpty());
}

TEST(SourceLinesTest, ALimitOfEntriesIsTold) {
  const OwnedFd fd = OpenLinesFixture("gcc-5.so");
  const std::vector<uint64_t> addresses = {AddressOf("gcc-5.so", "place_pop")};
  for (uint64_t entries = 0; entries < 12; ++entries)
    EXPECT_TRUE(ReadSourceLines({.file = fd.get()}, addresses, {}, {.max_entries = entries}).is_cut) << entries;
  EXPECT_FALSE(ReadSourceLines({.file = fd.get()}, addresses, {}, {.max_entries = 1000}).is_cut);
  const OwnedFd scanned = OpenLinesFixture("clang-5.so");  // without a table of units
  EXPECT_TRUE(ReadSourceLines({.file = scanned.get()}, addresses, {}, {.max_units = 0}).is_cut);
}

TEST(SourceLinesTest, AfterTooMuchMemoryItBeginsAnew) {
  const OwnedFd fd = OpenLinesFixture("clang-4.so");
  std::vector<uint64_t> addresses = {AddressOf("clang-4.so", "place_main"), AddressOf("clang-4.so", "place_pop")};
  std::sort(addresses.begin(), addresses.end());
  const SourceLines lines = ReadSourceLines({.file = fd.get()}, addresses, {}, {.max_held_bytes = 0});
  for (const LineChain& chain : lines.chains) EXPECT_THAT(chain, ::testing::Not(IsEmpty()));
}

// Whatever is cut off, there is an answer: what is known then is true, or nothing is.
TEST(SourceLinesTest, EveryPrefixOfAFileHasAnAnswer) {
  const std::string whole = LinesFixture("gcc-4.so");
  const std::vector<uint64_t> addresses = {AddressOf("gcc-4.so", "place_pop")};
  const OwnedFd fd(memfd_create("prefix", MFD_CLOEXEC));
  ASSERT_EQ(write(fd.get(), whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
  for (size_t size = whole.size(); size > 0; size -= std::min<size_t>(size, 41)) {
    ASSERT_EQ(ftruncate(fd.get(), static_cast<off_t>(size)), 0);
    const SourceLines lines = ReadSourceLines({.file = fd.get()}, addresses);
    for (const SourceLine& line : lines.chains[0]) EXPECT_EQ(line.file, LINES_SOURCE);
  }
}

}  // namespace
}  // namespace offcpu
