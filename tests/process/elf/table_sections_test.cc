#include "process/elf/table_sections.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "process/elf/image.h"

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
    std::memset(bytes.data() + 0x40, 7, 16 - zeros);
    std::memcpy(bytes.data() + 0x50, kNames, sizeof(kNames));
    std::memcpy(bytes.data() + 0x80, sections, sizeof(sections));
    return bytes;
  }
  ModuleTable Read() const {
    std::vector<std::byte> bytes = Bytes();
    return ReadTableSection(SpanMemory(0, bytes), ".eh_frame");
  }

  static constexpr char kNames[] = "\0strings\0.eh_frame";
  size_t zeros = 0;  // at the end of the table
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
  // Does the file match a process that has this .eh_frame, which its program headers name or do not?
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

// Two objects of start-up code may each end the table: a process's is read up to the first zero.
TEST_F(AddTableSectionsTest, EndedTwice) {
  zeros = 8;
  ModuleTable table = Read();
  table.bytes.resize(12);
  EXPECT_TRUE(Matches(true, table));
  table.bytes.resize(8);
  EXPECT_TRUE(Matches(true, table));
  table.bytes.resize(7);
  EXPECT_FALSE(Matches(true, table)) << "ended earlier than the file's";
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

// The first stub saves something; from the others functions go on as they were called. x86-64 has a table for them.
TEST_F(AddTableSectionsTest, StubsOfAArch64HaveNoFrame) {
  sections[2].sh_size = 0x40;
  std::vector<std::byte> bytes = Bytes();
  std::memcpy(bytes.data() + 0x50 + 9, ".plt", 5);
  module.machine = &kAArch64;
  AddTableSections(SpanMemory(0, bytes), &module);
  EXPECT_EQ(module.without_frames, (std::vector<CodeRange>{{.begin = 0x400060, .end = 0x400080}}));
  module = Module();
  module.machine = &kX86_64;
  AddTableSections(SpanMemory(0, bytes), &module);
  EXPECT_TRUE(module.without_frames.empty());
  sections[2].sh_size = 0x20;
  bytes = Bytes();
  std::memcpy(bytes.data() + 0x50 + 9, ".plt", 5);
  module = Module();
  module.machine = &kAArch64;
  AddTableSections(SpanMemory(0, bytes), &module);
  EXPECT_TRUE(module.without_frames.empty()) << "none but the first";
}

// The same file, in which the table is a .debug_frame.
class DebugFrameTest : public ElfSectionsTest {
 protected:
  DebugFrameTest() { sections[2].sh_flags = 0; }

  // `content`: instead of the sixteen bytes of the table. `note`: the name of a fourth section, which is mapped.
  ModuleTable Read(std::vector<std::byte> content, std::string note = ".note") {
    const std::string names = std::string("\0strings\0.debug_frame", 22) + '\0' + note + '\0';
    std::vector<Elf64_Shdr> all(std::begin(sections), std::end(sections));
    all.push_back(all[2]);
    all[3].sh_name = 23;
    all[3].sh_flags = SHF_ALLOC;
    all[1].sh_size = names.size();
    all[2].sh_size = size == 0 ? content.size() : size;
    std::vector<std::byte> bytes(0x40);
    const auto append = [&bytes](const void* from, size_t count) {
      const auto* begin = static_cast<const std::byte*>(from);
      bytes.insert(bytes.end(), begin, begin + count);
    };
    all[2].sh_offset = bytes.size();
    append(content.data(), content.size());
    all[1].sh_offset = bytes.size();
    append(names.data(), names.size());
    file.e_shoff = bytes.size();
    file.e_shnum = 4;
    append(all.data(), all.size() * sizeof(Elf64_Shdr));
    std::memcpy(bytes.data(), &file, sizeof(file));
    module = Module();
    constexpr size_t kShare = MemoryBudget::kShare;
    if (room != 0) {
      module.memory = MemoryLease(std::make_shared<MemoryBudget>(room + room / kShare + 1), 1000);
      AddTableSections(SpanMemory(0, bytes), &module, reader);
      return module.debug_frame;
    }
    AddTableSections(SpanMemory(0, bytes), &module, reader);
    EXPECT_EQ(ReadDebugFrame(SpanMemory(0, bytes)).bytes, module.debug_frame.bytes);
    EXPECT_EQ(module.matches_file, !module.debug_frame.bytes.empty());
    return module.debug_frame;
  }

  // A header that says that `type` has made so many bytes of what follows.
  static std::vector<std::byte> Compressed(uint32_t type, uint64_t says, const std::vector<std::byte>& content) {
    Elf64_Chdr header = {.ch_type = type, .ch_reserved = 0, .ch_size = says, .ch_addralign = 1};
    uLongf size = compressBound(content.size());
    std::vector<std::byte> bytes(sizeof(header) + size);
    std::memcpy(bytes.data(), &header, sizeof(header));
    compress(reinterpret_cast<Bytef*>(bytes.data() + sizeof(header)), &size,
             reinterpret_cast<const Bytef*>(content.data()), content.size());
    bytes.resize(sizeof(header) + size);
    return bytes;
  }

  static inline const std::vector<std::byte> kTable = std::vector<std::byte>(100, std::byte{7});
  uint64_t size = 0;  // that the header claims, unless 0
  size_t room = 0;    // for tables, unless 0
  CodeReader reader;
  Module module;
};

TEST_F(DebugFrameTest, AsItIs) {
  EXPECT_EQ(Read(kTable).bytes, kTable);
  EXPECT_EQ(Read(kTable).address, 0u);
  EXPECT_FALSE(module.too_large);
  size = kMaxTableBytes + 1;
  EXPECT_TRUE(Read(kTable).bytes.empty());
  EXPECT_TRUE(module.too_large);
  size = 0;
  sections[2].sh_flags = SHF_ALLOC;
  EXPECT_TRUE(Read(kTable).bytes.empty()) << "another section of that name";
}

// Code that no table describes is looked at itself; what has tables, or is not called so, is not.
TEST_F(DebugFrameTest, CodeWithoutTables) {
  std::vector<std::byte> code(16, std::byte{0x90});
  code[8] = std::byte{0x0f};  // syscall
  code[9] = std::byte{0x05};
  code[10] = std::byte{0xc3};  // ret
  Read(code, ".text");
  EXPECT_TRUE(module.without_frames.empty()) << "has a table";
  EXPECT_TRUE(module.text.bytes.empty());
  sections[2].sh_flags = SHF_ALLOC;  // a section of that name which is no table
  Read(code, ".text");
  EXPECT_EQ(module.without_frames, (std::vector<CodeRange>{{0x40004a, 0x40004b}}));
  EXPECT_EQ(module.text, (ModuleTable{.address = 0x400040, .bytes = code}));
  Read(code, ".data");
  EXPECT_TRUE(module.without_frames.empty());
  EXPECT_TRUE(module.text.bytes.empty());
  // A large text is searched, and not kept.
  code.resize(1 << 20, std::byte{0x90});
  sections[2].sh_size = code.size();
  Read(code, ".text");
  EXPECT_EQ(module.text.bytes, code);
  code.push_back(std::byte{0x90});
  sections[2].sh_size = code.size();
  Read(code, ".text");
  EXPECT_TRUE(module.text.bytes.empty());
  EXPECT_EQ(module.without_frames.size(), 1u);
  EXPECT_EQ(module.text_in_file.address, 0x400040u);
  EXPECT_EQ(module.text_in_file.bytes, code.size());
  // One larger than any table is only noted.
  sections[2].sh_size = kMaxTableBytes + 1;
  Read(code, ".text");
  EXPECT_EQ(module.text_in_file.bytes, kMaxTableBytes + 1);
  EXPECT_TRUE(module.without_frames.empty());
  EXPECT_FALSE(module.too_large) << "no table";
}

// It counts by what it becomes.
TEST_F(DebugFrameTest, InflatedOnlyIfThereIsRoom) {
  const std::vector<std::byte> zeros(1 << 20);
  sections[2].sh_flags = SHF_COMPRESSED;
  const std::vector<std::byte> packed = Compressed(ELFCOMPRESS_ZLIB, zeros.size(), zeros);
  ASSERT_LT(packed.size(), 10'000u);
  room = 1 << 20;
  EXPECT_TRUE(Read(packed).bytes.empty());
  EXPECT_TRUE(module.over_budget);
  EXPECT_TRUE(module.damaged_eh_frame) << "the frame pointer is not asked in its place";
  EXPECT_EQ(module.memory.bytes(), 0u);
  room = 2 << 20;
  EXPECT_EQ(Read(packed).bytes.size(), zeros.size());
  EXPECT_FALSE(module.over_budget);
  EXPECT_EQ(module.memory.bytes(), zeros.size());
}

TEST_F(DebugFrameTest, Compressed) {
  sections[2].sh_flags = SHF_COMPRESSED;
  EXPECT_EQ(Read(Compressed(ELFCOMPRESS_ZLIB, kTable.size(), kTable)).bytes, kTable);
  EXPECT_TRUE(Read(Compressed(ELFCOMPRESS_ZLIB, kTable.size() + 1, kTable)).bytes.empty());
  EXPECT_TRUE(Read(Compressed(ELFCOMPRESS_ZLIB, kTable.size() - 1, kTable)).bytes.empty());
  EXPECT_TRUE(Read(Compressed(ELFCOMPRESS_ZLIB, kMaxTableBytes + 1, kTable)).bytes.empty());
  EXPECT_TRUE(Read(Compressed(2, kTable.size(), kTable)).bytes.empty()) << "zstd";
  std::vector<std::byte> cut = Compressed(ELFCOMPRESS_ZLIB, kTable.size(), kTable);
  while (!cut.empty()) {
    cut.pop_back();
    EXPECT_TRUE(Read(cut).bytes.empty()) << cut.size();
  }
}

// Where code of a language that is known has no frame, its reader says.
TEST_F(DebugFrameTest, CodeOfAKnownLanguageIsReadByItsReader) {
  reader.read_module = [](const ElfFile& elf, Module* read) {
    if (elf.Find(".text") == nullptr) return false;
    read->language = "toy";
    return true;
  };
  const std::vector<std::byte> code = {std::byte{0x0f}, std::byte{0x05}, std::byte{0xc3}};  // syscall; ret
  sections[2].sh_flags = SHF_ALLOC;
  Read(code, ".text");
  EXPECT_EQ(module.language, "toy");
  EXPECT_TRUE(module.text.bytes.empty());
  EXPECT_TRUE(module.without_frames.empty());
  file.e_ident[EI_CLASS] = ELFCLASS32;
  module = Module();
  Read(code, ".text");
  EXPECT_EQ(module.language, "native");
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
