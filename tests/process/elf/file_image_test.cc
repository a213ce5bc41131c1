#include "process/elf/file_image.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/process/elf/elf_bytes.h"

namespace offcpu {
namespace {

absl::StatusOr<Module> Read(const std::vector<std::byte>& file) { return ReadFileImage(SpanMemory(0, file)); }

TEST(FileImageTest, IsWhatAProcessHas) {
  ElfBytes elf;
  PieceMemory memory;
  const std::vector<FileMapping> mapped = elf.MapAt(0x7f0000000000, &memory);
  const absl::StatusOr<ElfImage> image = ReadElfImage(memory, mapped, mapped[1]);
  const absl::StatusOr<Module> module = Read(elf.File());
  ASSERT_TRUE(image.ok() && module.ok()) << module.status();
  EXPECT_EQ(module->build_id, "deadbe0f");
  ASSERT_EQ(module->code.size(), 1u);
  EXPECT_EQ(module->code[0].begin, 0x1000u);
  EXPECT_EQ(module->code[0].end, 0x1500u);
  EXPECT_EQ(module->eh_frame.address, 0x400u);
  EXPECT_EQ(module->eh_frame.bytes, image->module.eh_frame.bytes);
  EXPECT_EQ(module->sframe.address, 0x500u);
  EXPECT_EQ(module->sframe.bytes, image->module.sframe.bytes);
}

TEST(FileImageTest, SegmentsAtOtherAddressesThanOffsets) {
  ElfBytes elf;
  for (Elf64_Phdr& p : elf.segments) p.p_vaddr += 0x400000;
  const absl::StatusOr<Module> module = Read(elf.File());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->eh_frame.address, 0x400400u);
  EXPECT_EQ(module->eh_frame.bytes.size(), 20u);
}

TEST(FileImageTest, NotLinkedOrOfAnotherMachine) {
  ElfBytes elf;
  elf.file.e_type = ET_REL;
  EXPECT_FALSE(Read(elf.File()).ok());
  elf.file.e_type = ET_DYN;
  elf.file.e_machine = EM_AARCH64;
  EXPECT_FALSE(Read(elf.File()).ok());
  elf.file.e_machine = EM_X86_64;
  elf.file.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_FALSE(Read(elf.File()).ok());
  elf.file.e_ident[EI_DATA] = ELFDATA2LSB;
  EXPECT_TRUE(Read(elf.File()).ok());
  elf.segments[ElfBytes::kText].p_flags = PF_R;
  EXPECT_FALSE(Read(elf.File()).ok()) << "nothing is executable";
}

TEST(FileImageTest, EveryPrefix) {
  const std::vector<std::byte> all = ElfBytes().File();
  for (size_t size = 0; size < 0x600; ++size) {
    const auto module = Read({all.begin(), all.begin() + static_cast<ptrdiff_t>(size)});
    constexpr size_t kHeaderBytes = sizeof(Elf64_Ehdr) + ElfBytes::kSegments * sizeof(Elf64_Phdr);
    ASSERT_EQ(module.ok(), size >= kHeaderBytes) << size;
    if (!module.ok()) continue;
    EXPECT_EQ(module->sframe.bytes.empty(), size < 0x51c) << size;
  }
}

TEST(FileImageTest, EveryByteChanged) {
  const std::vector<std::byte> good = ElfBytes().File();
  for (size_t at = 0; at < 0x600; ++at) {
    for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<std::byte> bytes = good;
      bytes[at] = static_cast<std::byte>(value);
      const auto module = Read(bytes);
      if (!module.ok()) continue;
      EXPECT_LE(module->eh_frame.bytes.size(), good.size());
      EXPECT_LE(module->sframe.bytes.size(), good.size());
    }
  }
}

}  // namespace
}  // namespace offcpu
