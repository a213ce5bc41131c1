#include "process/elf/file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"

namespace offcpu {
namespace {

// A file of an ELF header, four section headers, section names, and a note; built from literal fields.
struct TinyElf {
  Elf64_Ehdr header = {};
  Elf64_Shdr sections[4] = {};
  char names[24] = "\0.note\0.names\0.big";  // offsets: .note 1, .names 7, .big 14
  Elf64_Nhdr note = {.n_namesz = 4, .n_descsz = 3, .n_type = NT_GNU_BUILD_ID};
  char note_name[4] = "GNU";
  unsigned char note_bytes[4] = {0xab, 0x01, 0xff, 0};  // three bytes and padding

  TinyElf() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = offsetof(TinyElf, sections);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;  // the null section, .note, .names, .big
    header.e_shstrndx = 2;
    sections[1] = {.sh_name = 1,
                   .sh_type = SHT_NOTE,
                   .sh_flags = SHF_ALLOC,
                   .sh_addr = 0x200,
                   .sh_offset = offsetof(TinyElf, note),
                   .sh_size = 20};  // header 12, name 4, 3 bytes padded to 4
    sections[2] = {.sh_name = 7,
                   .sh_type = SHT_STRTAB,
                   .sh_flags = 0,
                   .sh_addr = 0,
                   .sh_offset = offsetof(TinyElf, names),
                   .sh_size = sizeof(names)};
    sections[3] = {.sh_name = 14,
                   .sh_type = SHT_PROGBITS,
                   .sh_flags = 0,
                   .sh_addr = 0,
                   .sh_offset = 0,
                   .sh_size = kMaxSectionBytes + 1};
  }

  std::string bytes() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
};

class ElfFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<ElfFile> Parse() {
    bytes_ = tiny_.bytes();
    memory_.emplace(0, std::as_bytes(std::span(bytes_)));
    return ElfFile::Parse(*memory_);
  }

  TinyElf tiny_;
  std::string bytes_;
  std::optional<SpanMemory> memory_;
};

TEST_F(ElfFileTest, ReadsSectionsAndBuildId) {
  auto elf = Parse();
  ASSERT_TRUE(elf.ok()) << elf.status();
  ASSERT_EQ(elf->sections().size(), 4u);
  const ElfSection* note = elf->Find(".note");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note, elf->FindType(SHT_NOTE));
  EXPECT_EQ(note->address, 0x200u);
  EXPECT_EQ(elf->Read(*note)->size(), 20u);
  EXPECT_EQ(elf->BuildId(), "ab01ff");
  EXPECT_EQ(elf->Find(".absent"), nullptr);
  EXPECT_EQ(elf->FindType(SHT_SYMTAB), nullptr);
}

TEST_F(ElfFileTest, EveryPrefixIsAnErrorOrHasFewerBytes) {
  std::string whole = tiny_.bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string prefix = whole.substr(0, size);
    SpanMemory memory(0, std::as_bytes(std::span(prefix)));
    auto elf = ElfFile::Parse(memory);
    EXPECT_EQ(elf.ok(), size >= offsetof(TinyElf, names)) << size;
    if (!elf.ok()) continue;
    EXPECT_EQ(elf->Find(".note") != nullptr, size >= offsetof(TinyElf, note)) << size;
    EXPECT_EQ(elf->BuildId(), size >= offsetof(TinyElf, note) + 20 ? "ab01ff" : "") << size;
  }
}

TEST_F(ElfFileTest, OtherClassesAndFilesAreRefused) {
  tiny_.header.e_ident[EI_CLASS] = ELFCLASSNONE;
  EXPECT_EQ(Parse().status().code(), absl::StatusCode::kInvalidArgument);
  tiny_ = TinyElf();
  tiny_.header.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_EQ(Parse().status().code(), absl::StatusCode::kInvalidArgument);
  tiny_ = TinyElf();
  tiny_.header.e_ident[0] = '#';
  EXPECT_EQ(Parse().status().code(), absl::StatusCode::kInvalidArgument);
  tiny_ = TinyElf();
  tiny_.header.e_shentsize = 40;
  EXPECT_EQ(Parse().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ElfFileTest, SectionHeadersThatWrapAreRefused) {
  tiny_.header.e_shoff = UINT64_MAX - 8;
  EXPECT_EQ(Parse().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ElfFileTest, AFileMayHaveNoSectionsOrNoNames) {
  tiny_.header.e_shnum = 0;
  EXPECT_TRUE(Parse()->sections().empty());
  tiny_ = TinyElf();
  tiny_.header.e_shstrndx = 9;
  EXPECT_EQ(Parse()->Find(".note"), nullptr);
  tiny_ = TinyElf();
  tiny_.sections[1].sh_name = 24;  // one past the names
  EXPECT_EQ(Parse()->sections()[1].name, "");
}

TEST_F(ElfFileTest, ANameEndsWithItsTable) {
  tiny_.sections[2].sh_size = 4;  // "\0.no"
  EXPECT_EQ(Parse()->sections()[1].name, ".no");
}

TEST_F(ElfFileTest, ReadingIsBounded) {
  EXPECT_EQ(Parse()->Read(Parse()->sections()[3]).status().code(), absl::StatusCode::kResourceExhausted);
  tiny_.sections[3].sh_size = kMaxSectionBytes;
  auto elf = Parse();
  EXPECT_EQ(elf->Read(elf->sections()[3]).status().code(), absl::StatusCode::kDataLoss);
  tiny_.sections[3] = {.sh_offset = UINT64_MAX - 3, .sh_size = 8};
  elf = Parse();
  EXPECT_EQ(elf->Read(elf->sections()[3]).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ElfFileTest, SectionsWithoutPlainBytesAreRefused) {
  tiny_.sections[1].sh_flags = SHF_COMPRESSED;
  auto elf = Parse();
  EXPECT_EQ(elf->Read(elf->sections()[1]).status().code(), absl::StatusCode::kUnimplemented);
  tiny_.sections[1].sh_flags = 0;
  tiny_.sections[1].sh_type = SHT_NOBITS;
  elf = Parse();
  EXPECT_EQ(elf->Read(elf->sections()[1]).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ElfFileTest, NotesThatLieHaveNoBuildId) {
  tiny_.note.n_namesz = UINT32_MAX;
  EXPECT_EQ(Parse()->BuildId(), "");
  tiny_.note = {.n_namesz = 4, .n_descsz = UINT32_MAX, .n_type = NT_GNU_BUILD_ID};
  EXPECT_EQ(Parse()->BuildId(), "");
  tiny_.note = {.n_namesz = 4, .n_descsz = 5, .n_type = NT_GNU_BUILD_ID};  // one more than there is
  EXPECT_EQ(Parse()->BuildId(), "");
  tiny_.note = {.n_namesz = 4, .n_descsz = 0, .n_type = NT_GNU_BUILD_ID};
  EXPECT_EQ(Parse()->BuildId(), "");
  tiny_.note = {.n_namesz = 4, .n_descsz = 3, .n_type = NT_GNU_ABI_TAG};
  EXPECT_EQ(Parse()->BuildId(), "");
}

}  // namespace
}  // namespace offcpu
