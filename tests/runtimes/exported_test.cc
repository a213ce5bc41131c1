// Symbols of an ELF file that is nothing but a table of them.
#include "runtimes/exported.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "process/memory.h"

namespace offcpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class Exported : public ::testing::Test {
 protected:
  // `name`: where it begins in the texts.
  void Add(size_t name, uint64_t value, uint16_t section = 1) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<uint32_t>(name);
    symbol.st_shndx = section;
    symbol.st_value = value;
    symbols_.push_back(symbol);
  }
  void Add(const std::string& name, uint64_t value, uint16_t section = 1) {
    Add(texts_.size(), value, section);
    texts_ += name + '\0';
  }

  std::map<std::string, uint64_t, std::less<>> Read(std::string_view prefix) {
    const size_t symbol_bytes = symbols_.size() * sizeof(Elf64_Sym);
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shoff = sizeof(header);
    Elf64_Shdr sections[3] = {};
    const size_t begin = sizeof(header) + sizeof(sections);
    sections[1].sh_type = SHT_DYNSYM;
    sections[1].sh_offset = begin;
    sections[1].sh_size = symbol_bytes;
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = begin + symbol_bytes;
    sections[2].sh_size = texts_.size();
    std::vector<std::byte> bytes(begin + symbol_bytes + texts_.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), sections, sizeof(sections));
    std::memcpy(bytes.data() + begin, symbols_.data(), symbol_bytes);
    std::memcpy(bytes.data() + begin + symbol_bytes, texts_.data(), texts_.size());
    const SpanMemory file(0, bytes);
    const absl::StatusOr<ElfFile> elf = ElfFile::Parse(file);
    EXPECT_TRUE(elf.ok()) << elf.status();
    return elf.ok() ? ExportedSymbols(*elf, prefix) : std::map<std::string, uint64_t, std::less<>>();
  }

  std::vector<Elf64_Sym> symbols_;
  std::string texts_;
};

TEST_F(Exported, AreFoundByTheirPrefix) {
  Add("gHotSpotVMTypes", 0x1000);
  Add("gHotSpotVMStructs", 0x2000);
  Add("JNI_CreateJavaVM", 0x3000);
  Add("gHotSpotVMUndefined", 0, SHN_UNDEF);
  EXPECT_THAT(Read("gHotSpotVM"), ElementsAre(Pair("Structs", 0x2000), Pair("Types", 0x1000)));
}

TEST_F(Exported, NameOutsideOfTheTextsIsNone) {
  Add("gHotSpotVMTypes", 0x1000);
  Add(size_t{16}, 0x2000);
  EXPECT_THAT(Read("gHotSpotVM"), ElementsAre(Pair("Types", 0x1000)));
}

// A table may be full of symbols that all have the same name, as long as all texts: nothing is done for its length.
TEST_F(Exported, LongerNamesAreNone) {
  Add("g" + std::string(kMaxExportedNameBytes - 1, 'x'), 1);
  Add("g" + std::string(kMaxExportedNameBytes, 'y'), 2);
  EXPECT_THAT(Read("g"), ElementsAre(Pair(std::string(kMaxExportedNameBytes - 1, 'x'), 1)));
}

TEST_F(Exported, ThereAreSoMany) {
  for (size_t i = 0; i <= kMaxExported; ++i) Add("g" + std::to_string(i), i);
  EXPECT_THAT(Read("g"), SizeIs(kMaxExported));
}

TEST_F(Exported, LargerTextsAreNotRead) {
  Add("gOne", 1);
  texts_.resize(kMaxExportedBytes);
  EXPECT_THAT(Read("g"), SizeIs(1));
  texts_.resize(kMaxExportedBytes + 1);
  EXPECT_THAT(Read("g"), IsEmpty());
}

}  // namespace
}  // namespace offcpu
