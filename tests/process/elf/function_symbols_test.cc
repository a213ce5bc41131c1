#include "process/elf/function_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace offcpu {
namespace {

// A file with .text at 0x1000, 0x100 bytes, and a symbol table.
class FunctionSymbolsTest : public ::testing::Test {
 protected:
  void Add(uint64_t value, uint64_t size, unsigned char type = STT_FUNC, uint16_t section = 1) {
    symbols_.push_back({.st_info = type, .st_shndx = section, .st_value = value, .st_size = size});
  }
  std::vector<CodeRange> Read(uint32_t table = SHT_SYMTAB, MemoryLease lease = {}) {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shoff = sizeof(header);
    const Elf64_Shdr sections[3] = {
        {},
        {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = 0x1000, .sh_size = 0x100},
        {.sh_type = table,
         .sh_offset = sizeof(header) + sizeof(sections),
         .sh_size = symbols_.size() * sizeof(Elf64_Sym)}};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    bytes.append(reinterpret_cast<const char*>(sections), sizeof(sections));
    bytes.append(reinterpret_cast<const char*>(symbols_.data()), symbols_.size() * sizeof(Elf64_Sym));
    const SpanMemory memory(0, std::as_bytes(std::span(bytes)));
    const absl::StatusOr<ElfFile> file = ElfFile::Parse(memory);
    EXPECT_TRUE(file.ok());
    return FunctionsIn(*file, file->sections()[1], &lease);
  }
  using Ranges = std::vector<CodeRange>;

  std::vector<Elf64_Sym> symbols_;
};

TEST_F(FunctionSymbolsTest, AreSorted) {
  Add(0x1040, 0x10);
  Add(0x1000, 0x20);
  EXPECT_EQ(Read(), (Ranges{{0x1000, 0x1020}, {0x1040, 0x1050}}));
  EXPECT_EQ(Read(SHT_DYNSYM), (Ranges{{0x1000, 0x1020}, {0x1040, 0x1050}}));
}

TEST_F(FunctionSymbolsTest, OneWithoutASizeReachesToTheNextIfAllAreKnown) {
  Add(0x1000, 0);
  Add(0x1040, 0x10);
  Add(0x10f0, 0);
  EXPECT_EQ(Read(), (Ranges{{0x1000, 0x1040}, {0x1040, 0x1050}, {0x10f0, 0x1100}}));
  EXPECT_EQ(Read(SHT_DYNSYM), (Ranges{{0x1040, 0x1050}}));
}

TEST_F(FunctionSymbolsTest, AliasesAreOne) {
  Add(0x1000, 0);
  Add(0x1000, 0x20);
  Add(0x1000, 0x10);
  EXPECT_EQ(Read(), (Ranges{{0x1000, 0x1020}}));
}

// It may be entered there.
TEST_F(FunctionSymbolsTest, OneThatAnotherBeginsInIsNone) {
  Add(0x1000, 0x20);
  Add(0x1010, 0x8, STT_NOTYPE);
  EXPECT_EQ(Read(), (Ranges{{0x1010, 0x1018}}));
}

TEST_F(FunctionSymbolsTest, OnlyCodeOfTheSection) {
  Add(0xfff, 0x20);
  Add(0x1100, 0x20);
  Add(0x1000, 0x20, STT_OBJECT);
  Add(0x1000, 0x20, STT_FUNC, SHN_UNDEF);
  Add(0x10f0, UINT64_MAX);
  EXPECT_EQ(Read(), (Ranges{{0x10f0, 0x1100}}));
}

TEST_F(FunctionSymbolsTest, AreReadOnlyIfThereIsRoom) {
  Add(0x1000, 0x20);
  EXPECT_EQ(Read(SHT_SYMTAB, MemoryLease(std::make_shared<MemoryBudget>(10), 1000)), Ranges());
}

TEST_F(FunctionSymbolsTest, AtTheLimit) {
  symbols_.resize(kMaxFunctionSymbols - 1);
  Add(0x1000, 0x20);
  EXPECT_EQ(Read(), (Ranges{{0x1000, 0x1020}}));
  symbols_.resize(kMaxFunctionSymbols + 1);
  EXPECT_EQ(Read(), Ranges());
}

}  // namespace
}  // namespace offcpu
