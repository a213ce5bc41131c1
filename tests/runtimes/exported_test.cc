#include "runtimes/exported.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "process/memory.h"
#include "tests/runtimes/symbol_file.h"

namespace offcpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

using Symbols = std::map<std::string, uint64_t, std::less<>>;

Symbols Read(const SymbolFile& file, std::string_view prefix) {
  const std::vector<std::byte> bytes = file.Bytes();
  const SpanMemory memory(0, bytes);
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(memory);
  EXPECT_TRUE(elf.ok()) << elf.status();
  return elf.ok() ? ExportedSymbols(*elf, prefix) : Symbols();
}

TEST(Exported, AreFoundByTheirPrefix) {
  SymbolFile file;
  file.Add("gHotSpotVMTypes", 0x1000);
  file.Add("gHotSpotVMStructs", 0x2000);
  file.Add("JNI_CreateJavaVM", 0x3000);
  file.Add("gHotSpotVMUndefined", 0, SHN_UNDEF);
  EXPECT_THAT(Read(file, "gHotSpotVM"), ElementsAre(Pair("Structs", 0x2000), Pair("Types", 0x1000)));
}

TEST(Exported, NameOutsideOfTheTextsIsNone) {
  SymbolFile file;
  file.Add("gHotSpotVMTypes", 0x1000);
  file.Add(size_t{16}, 0x2000);
  EXPECT_THAT(Read(file, "gHotSpotVM"), ElementsAre(Pair("Types", 0x1000)));
}

// A table may be full of symbols that all have the same name, as long as all texts: nothing is done for its length.
TEST(Exported, LongerNamesAreNone) {
  SymbolFile file;
  file.Add("g" + std::string(kMaxExportedNameBytes - 1, 'x'), 1);
  file.Add("g" + std::string(kMaxExportedNameBytes, 'y'), 2);
  EXPECT_THAT(Read(file, "g"), ElementsAre(Pair(std::string(kMaxExportedNameBytes - 1, 'x'), 1)));
}

TEST(Exported, ThereAreSoMany) {
  SymbolFile file;
  for (size_t i = 0; i <= kMaxExported; ++i) file.Add("g" + std::to_string(i), i);
  EXPECT_THAT(Read(file, "g"), SizeIs(kMaxExported));
}

TEST(Exported, LargerTextsAreNotRead) {
  SymbolFile file;
  file.Add("gOne", 1);
  file.FillTexts(kMaxExportedBytes);
  EXPECT_THAT(Read(file, "g"), SizeIs(1));
  file.FillTexts(kMaxExportedBytes + 1);
  EXPECT_THAT(Read(file, "g"), IsEmpty());
}

}  // namespace
}  // namespace offcpu
