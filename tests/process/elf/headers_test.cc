#include "process/elf/headers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

namespace offcpu {
namespace {

// An object of 32 bits: a file header, a program header at 52 and a section header at 84.
std::vector<uint8_t> Object32() {
  return {
      0x7f, 'E',  'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // 32 bits, little-endian
      3,    0,                                                   // ET_DYN
      3,    0,                                                   // EM_386
      1,    0,    0,   0,                                        // version
      0x34, 0x12, 0,   0,                                        // entry
      52,   0,    0,   0,                                        // program headers
      84,   0,    0,   0,                                        // section headers
      0,    0,    0,   0,                                        // flags
      52,   0,    32,  0,   1, 0,                                // sizes of both headers, one program header
      40,   0,    1,   0,   0, 0,                                // size of a section header, one of them, names: 0
      1,    0,    0,   0,                                        // PT_LOAD
      0,    0x10, 0,   0,                                        // offset
      0,    0x20, 0,   0,                                        // address
      0,    0x30, 0,   0,                                        // physical address
      0,    1,    0,   0,                                        // bytes in the file
      0,    2,    0,   0,                                        // bytes in memory
      5,    0,    0,   0,                                        // PF_R | PF_X
      0,    0x10, 0,   0,                                        // alignment
      7,    0,    0,   0,                                        // name
      1,    0,    0,   0,                                        // SHT_PROGBITS
      6,    0,    0,   0,                                        // SHF_ALLOC | SHF_EXECINSTR
      0,    0x21, 0,   0,                                        // address
      0,    0x11, 0,   0,                                        // offset
      0x80, 0,    0,   0,                                        // size
      2,    0,    0,   0,                                        // link
      3,    0,    0,   0,                                        // info
      16,   0,    0,   0,                                        // alignment
      8,    0,    0,   0,                                        // size of an entry
  };
}

TEST(ElfHeadersTest, Of32BitsAreReadAsThoseOf64) {
  const std::vector<uint8_t> bytes = Object32();
  const SpanMemory file(0, std::as_bytes(std::span(bytes)));
  const absl::StatusOr<ElfHeaders> headers = ReadElfHeaders(file);
  ASSERT_TRUE(headers.ok()) << headers.status();
  EXPECT_TRUE(Is32Bit(headers->file));
  EXPECT_EQ(headers->file.e_machine, EM_386);
  EXPECT_EQ(headers->file.e_entry, 0x1234u);
  ASSERT_EQ(headers->segments.size(), 1u);
  const Elf64_Phdr& p = headers->segments[0];
  EXPECT_EQ(p.p_type, uint32_t{PT_LOAD});
  EXPECT_EQ(p.p_flags, uint32_t{PF_R | PF_X});
  EXPECT_EQ(p.p_offset, 0x1000u);
  EXPECT_EQ(p.p_vaddr, 0x2000u);
  EXPECT_EQ(p.p_paddr, 0x3000u);
  EXPECT_EQ(p.p_filesz, 0x100u);
  EXPECT_EQ(p.p_memsz, 0x200u);
  EXPECT_EQ(p.p_align, 0x1000u);
  const auto sections = ReadSectionHeaders(file, headers->file);
  ASSERT_TRUE(sections.ok()) << sections.status();
  ASSERT_EQ(sections->size(), 1u);
  const Elf64_Shdr& s = (*sections)[0];
  EXPECT_EQ(s.sh_name, 7u);
  EXPECT_EQ(s.sh_type, uint32_t{SHT_PROGBITS});
  EXPECT_EQ(s.sh_flags, uint64_t{SHF_ALLOC | SHF_EXECINSTR});
  EXPECT_EQ(s.sh_addr, 0x2100u);
  EXPECT_EQ(s.sh_offset, 0x1100u);
  EXPECT_EQ(s.sh_size, 0x80u);
  EXPECT_EQ(s.sh_link, 2u);
  EXPECT_EQ(s.sh_info, 3u);
  EXPECT_EQ(s.sh_addralign, 16u);
  EXPECT_EQ(s.sh_entsize, 8u);
}

TEST(ElfHeadersTest, PrefixesAreRefused) {
  const std::vector<uint8_t> bytes = Object32();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const SpanMemory file(0, std::as_bytes(std::span(bytes).first(size)));
    const absl::StatusOr<ElfHeaders> headers = ReadElfHeaders(file);
    EXPECT_EQ(headers.ok(), size >= 84) << size;
    if (!headers.ok()) continue;
    EXPECT_FALSE(ReadSectionHeaders(file, headers->file).ok()) << size;
  }
}

// The sizes of headers are those of the class that the object says it is of.
TEST(ElfHeadersTest, SizesOfTheOtherClassAreRefused) {
  std::vector<uint8_t> bytes = Object32();
  bytes[42] = sizeof(Elf64_Phdr);
  EXPECT_FALSE(ReadElfHeaders(SpanMemory(0, std::as_bytes(std::span(bytes)))).ok());
  bytes = Object32();
  bytes[46] = sizeof(Elf64_Shdr);
  const SpanMemory file(0, std::as_bytes(std::span(bytes)));
  const absl::StatusOr<ElfHeaders> headers = ReadElfHeaders(file);
  ASSERT_TRUE(headers.ok());
  EXPECT_FALSE(ReadSectionHeaders(file, headers->file).ok());
}

TEST(ElfHeadersTest, SymbolsAndDynamicEntries) {
  Elf32_Sym symbol = {.st_name = 1, .st_value = 2, .st_size = 3, .st_info = 4, .st_other = 5, .st_shndx = 6};
  const Elf64_Sym wide = Widened(symbol);
  EXPECT_EQ(wide.st_name, 1u);
  EXPECT_EQ(wide.st_value, 2u);
  EXPECT_EQ(wide.st_size, 3u);
  EXPECT_EQ(wide.st_info, 4u);
  EXPECT_EQ(wide.st_other, 5u);
  EXPECT_EQ(wide.st_shndx, 6u);
  Elf32_Dyn entry = {.d_tag = DT_FLAGS_1, .d_un = {.d_val = DF_1_PIE}};
  EXPECT_EQ(Widened(entry).d_tag, DT_FLAGS_1);
  EXPECT_EQ(Widened(entry).d_un.d_val, uint64_t{DF_1_PIE});
}

}  // namespace
}  // namespace offcpu
