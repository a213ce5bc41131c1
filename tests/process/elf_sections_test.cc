#include "process/elf_sections.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "process/elf_image.h"

namespace offcpu {
namespace {

// File header, 16 bytes of .eh_frame at 0x40, section names at 0x50, three section headers at 0x80.
class ElfSectionsTest : public ::testing::Test {
 protected:
  ElfSectionsTest() {
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    file.e_ident[EI_DATA] = ELFDATA2LSB;
    file.e_shoff = 0x80;
    file.e_shentsize = sizeof(Elf64_Shdr);
    file.e_shnum = 3;
    file.e_shstrndx = 1;
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = 0x50;
    sections[1].sh_size = sizeof(kNames);
    sections[2].sh_name = 9;
    sections[2].sh_type = SHT_PROGBITS;
    sections[2].sh_flags = SHF_ALLOC;
    sections[2].sh_addr = 0x400040;
    sections[2].sh_offset = 0x40;
    sections[2].sh_size = 16;
  }
  std::vector<std::byte> Bytes() const {
    std::vector<std::byte> bytes(0x80 + sizeof(sections));
    std::memcpy(bytes.data(), &file, sizeof(file));
    std::memset(bytes.data() + 0x40, 7, 16);
    std::memcpy(bytes.data() + 0x50, kNames, sizeof(kNames));
    std::memcpy(bytes.data() + 0x80, sections, sizeof(sections));
    return bytes;
  }
  ModuleTable Read() const {
    std::vector<std::byte> bytes = Bytes();
    return ReadTableSection(SpanMemory(0, bytes), ".eh_frame");
  }

  static constexpr char kNames[] = "\0strings\0.eh_frame";
  Elf64_Ehdr file = {};
  Elf64_Shdr sections[3] = {};
};

TEST_F(ElfSectionsTest, FindsTheTable) {
  ModuleTable table = Read();
  EXPECT_EQ(table.address, 0x400040u);
  EXPECT_EQ(table.bytes, std::vector<std::byte>(16, std::byte{7}));
}

TEST_F(ElfSectionsTest, NotAllocatedOrNotThere) {
  sections[2].sh_flags = 0;
  EXPECT_TRUE(Read().bytes.empty());
  sections[2].sh_flags = SHF_ALLOC;
  sections[2].sh_type = SHT_NOBITS;
  EXPECT_TRUE(Read().bytes.empty());
}

TEST_F(ElfSectionsTest, ByItsWholeName) {
  const std::vector<std::byte> bytes = Bytes();
  const SpanMemory memory(0, bytes);
  EXPECT_TRUE(ReadTableSection(memory, ".eh_fram").bytes.empty());
  EXPECT_TRUE(ReadTableSection(memory, ".eh_frame_").bytes.empty());
  EXPECT_TRUE(ReadTableSection(memory, ".sframe").bytes.empty());
}

class AddTableSectionsTest : public ElfSectionsTest {
 protected:
  // Of a process that has this .eh_frame, which its program headers name or do not.
  bool Matches(bool named, const ModuleTable& in_process) {
    module = Module();
    module.eh_frame_hdr.bytes.resize(named ? 12 : 0);
    module.eh_frame = in_process;
    const std::vector<std::byte> bytes = Bytes();
    AddTableSections(SpanMemory(0, bytes), &module);
    return module.matches_file;
  }
  Module module;
};

TEST_F(AddTableSectionsTest, WhatTheHeadersDoNotNameIsTheFilesOwn) {
  EXPECT_TRUE(Matches(false, {}));
  EXPECT_EQ(module.eh_frame.bytes.size(), 16u);
  sections[2].sh_flags = 0;
  EXPECT_FALSE(Matches(false, {})) << "no table at all";
}

// A process may have written to its copy, which must not be taken for that of others.
TEST_F(AddTableSectionsTest, ChangedInTheProcess) {
  ModuleTable table = Read();
  EXPECT_TRUE(Matches(true, table));
  table.bytes[15] = std::byte{8};
  EXPECT_FALSE(Matches(true, table));
  EXPECT_EQ(module.eh_frame.bytes, table.bytes) << "for itself it is what it is";
  table = Read();
  table.address += 8;
  EXPECT_FALSE(Matches(true, table));
  table = Read();
  table.bytes.resize(24);
  EXPECT_TRUE(Matches(true, table)) << "only zeros more";
  table.bytes[23] = std::byte{1};
  EXPECT_FALSE(Matches(true, table));
  table.bytes.resize(15);
  EXPECT_FALSE(Matches(true, table));
  EXPECT_FALSE(Matches(true, {}));
}

TEST_F(AddTableSectionsTest, SFrameOfTheProcessOnly) {
  const std::vector<std::byte> bytes = Bytes();
  module.sframe.bytes.resize(4);
  AddTableSections(SpanMemory(0, bytes), &module);
  EXPECT_FALSE(module.matches_file);
  module = Module();
  module.damaged_sframe = true;
  AddTableSections(SpanMemory(0, bytes), &module);
  EXPECT_FALSE(module.matches_file);
  EXPECT_TRUE(module.sframe.bytes.empty());
}

TEST_F(ElfSectionsTest, HostileNumbers) {
  sections[2].sh_size = kMaxTableBytes + 1;
  EXPECT_TRUE(Read().bytes.empty());
  sections[2].sh_size = 16;
  sections[2].sh_offset = UINT64_MAX - 3;
  EXPECT_TRUE(Read().bytes.empty());
  sections[2].sh_offset = 0x40;
  sections[2].sh_name = 10;  // "eh_frame"
  EXPECT_TRUE(Read().bytes.empty());
  sections[2].sh_name = UINT32_MAX;
  EXPECT_TRUE(Read().bytes.empty());
  sections[2].sh_name = 9;
  file.e_shstrndx = 3;
  EXPECT_TRUE(Read().bytes.empty());
  file.e_shstrndx = 1;
  file.e_shoff = UINT64_MAX;
  EXPECT_TRUE(Read().bytes.empty());
}

TEST_F(ElfSectionsTest, EveryPrefix) {
  std::vector<std::byte> bytes = Bytes();
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_TRUE(ReadTableSection(SpanMemory(0, bytes), ".eh_frame").bytes.empty()) << bytes.size();
  }
}

}  // namespace
}  // namespace offcpu
