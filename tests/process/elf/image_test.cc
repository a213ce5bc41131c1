#include "process/elf/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "process/elf/headers.h"
#include "tests/process/elf/elf_bytes.h"

namespace offcpu {
namespace {

constexpr uint64_t kBase = 0x7f0000000000;

class ElfImageTest : public ::testing::Test {
 protected:
  // Maps `elf` at kBase and reads it by way of its text.
  absl::StatusOr<ElfImage> Read() {
    file = elf.MapAt(kBase, &memory);
    return ReadElfImage(memory, file, file[1]);
  }

  ElfBytes elf;
  PieceMemory memory;
  std::vector<FileMapping> file;
};

TEST_F(ElfImageTest, EveryPart) {
  auto image = Read();
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->head.bias, kBase);
  EXPECT_EQ(image->head.begin, kBase);
  EXPECT_EQ(image->head.end, kBase + 0x4000);
  EXPECT_EQ(image->head.build_id, "deadbe0f");
  const Module& m = image->module;
  EXPECT_EQ(m.build_id, "deadbe0f");
  ASSERT_EQ(m.code.size(), 1u);
  EXPECT_EQ(m.code[0].begin, 0x1000u);
  EXPECT_EQ(m.code[0].end, 0x1500u);
  EXPECT_EQ(m.eh_frame_hdr.address, 0x300u);
  EXPECT_EQ(m.eh_frame_hdr.bytes.size(), 12u);
  EXPECT_EQ(m.eh_frame.address, 0x400u);
  EXPECT_EQ(m.eh_frame.bytes.size(), 20u);
  EXPECT_EQ(m.eh_frame.bytes[8], std::byte{1});
  EXPECT_EQ(m.sframe.address, 0x500u);
  EXPECT_EQ(m.sframe.bytes.size(), 28u);
}

// Before anything is read there has to be room for it; what is left out is not taken for missing.
TEST_F(ElfImageTest, TablesForWhichThereIsNoRoomAreLeftOut) {
  const auto read = [this](size_t bytes) {
    file = elf.MapAt(kBase, &memory);
    auto budget = std::make_shared<MemoryBudget>(bytes * (MemoryBudget::kShare + 1) / MemoryBudget::kShare + 1);
    return ReadElfImage(memory, file, file[1], MemoryLease(budget, 1000));
  };
  auto image = read(12 + 20 + 28);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_FALSE(image->module.over_budget);
  EXPECT_EQ(image->module.memory.bytes(), 12u + 20u + 28u);
  EXPECT_EQ(image->module.memory.owner(), 1000u);
  image = read(12 + 20);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(image->module.over_budget);
  EXPECT_EQ(image->module.eh_frame.bytes.size(), 20u);
  EXPECT_TRUE(image->module.sframe.bytes.empty());
  EXPECT_TRUE(image->module.damaged_sframe);
  image = read(12);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(image->module.eh_frame.bytes.empty());
  EXPECT_TRUE(image->module.damaged_eh_frame);
  EXPECT_EQ(image->module.memory.bytes(), 12u);
}

// At 0x300 the header, whose table names entries at `first` and `last`. Each has 12 bytes behind its length, and its
// CIE right before it, of 12 bytes, too.
class SearchedImageTest : public ElfImageTest {
 protected:
  void NameEntries(uint8_t first, uint8_t last) {
    elf.segments[ElfBytes::kEhFrameHdr].p_memsz = elf.segments[ElfBytes::kEhFrameHdr].p_filesz = 28;
    elf.Put(0x300, {1, 0x1b, 0x03, 0x3b, 0xfc, 0, 0, 0, 2, 0, 0, 0});
    elf.Put(0x30c, {0, 0, 0, 0, first, 1, 0, 0, 0, 0, 0, 0, last, 1, 0, 0});
    for (const uint8_t at : {first, last}) {
      elf.Put(0x400u + at - 16, {12, 0, 0, 0, 0, 0, 0, 0});
      elf.Put(0x400u + at, {12, 0, 0, 0, 20, 0, 0, 0});
    }
  }
};

TEST_F(SearchedImageTest, WhatTheSearchTableNamesIsReadBehindAZero) {
  NameEntries(0x50, 0x80);
  auto image = Read();
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->module.eh_frame_hdr.bytes.size(), 28u);
  EXPECT_EQ(image->module.eh_frame.address, 0x400u);
  EXPECT_EQ(image->module.eh_frame.bytes.size(), 0x90u);
}

TEST_F(SearchedImageTest, WhatTheSearchTableNamesIsReadInFrontOfTheFirstEntry) {
  NameEntries(0x50, 0x80);
  elf.Put(0x304, {0x7c, 1});  // .eh_frame is said to begin at 0x480
  auto image = Read();
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->module.eh_frame.address, 0x440u);
  EXPECT_EQ(image->module.eh_frame.bytes.size(), 0x54u) << "to the zero behind the second one";
}

// In front of its segment, behind it, and where the entry itself would reach beyond.
TEST_F(SearchedImageTest, WhatIsNotInTheSegmentIsNotRead) {
  NameEntries(0x50, 0x80);
  const std::vector<std::byte> good = elf.bytes;
  const auto size_with = [&](size_t at, std::initializer_list<uint8_t> bytes) {
    elf.bytes = good;
    elf.Put(at, bytes);
    auto image = Read();
    EXPECT_TRUE(image.ok()) << image.status();
    return image.ok() ? image->module.eh_frame.bytes.size() : 0;
  };
  EXPECT_EQ(size_with(0x318, {0, 0xfc, 0xff, 0xff}), 20u);
  EXPECT_EQ(size_with(0x318, {0xfd, 4, 0, 0}), 20u);
  EXPECT_EQ(size_with(0x480, {0x7d, 3}), 20u);
  EXPECT_EQ(size_with(0x480, {0x7c, 3}), 0x400u);
}

// Libraries may have one, too, left by old linkers or for those who run them; nothing starts there. The dynamic linker
// is among those that need no other one.
TEST_F(ElfImageTest, EntryPointOfProgramsAndDynamicLinkers) {
  const auto entry = [this] {
    auto image = Read();
    EXPECT_TRUE(image.ok()) << image.status();
    return image.ok() ? image->module.entry : 1;
  };
  EXPECT_EQ(entry(), 0u);
  elf.Put(0x600, {1,    0,    0,    0,    0, 0, 0, 0, 8, 0, 0, 0,    0, 0, 0, 0,    // DT_NEEDED
                  0xfb, 0xff, 0xff, 0x6f, 0, 0, 0, 0, 1, 0, 0, 0x08, 0, 0, 0, 0,    // DT_FLAGS_1: DF_1_NOW, DF_1_PIE
                  0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0});  // DT_NULL
  elf.segments[ElfBytes::kNote] = {PT_DYNAMIC, PF_R, 0x600, 0x600, 0x600, 48, 48, 8};
  EXPECT_EQ(entry(), 0x1080u);
  for (uint64_t size = 0; size < 32; ++size) {
    elf.segments[ElfBytes::kNote].p_memsz = size;
    EXPECT_EQ(entry(), 0u) << size;
  }
  elf.segments[ElfBytes::kNote].p_memsz = 48;
  elf.Put(0x61b, {0});
  EXPECT_EQ(entry(), 0u) << "DF_1_NOW alone";
  elf.Put(0x600, {0x1e});  // DT_FLAGS
  EXPECT_EQ(entry(), 0x1080u) << "needs no other library";
  elf.Put(0x600, {1});
  elf.Put(0x61b, {8});
  elf.Put(0x610, {0, 0, 0, 0});  // DT_NULL
  EXPECT_EQ(entry(), 0u) << "behind the end";
  elf.file.e_type = ET_EXEC;
  EXPECT_EQ(entry(), 0x1080u);
}

TEST_F(ElfImageTest, LimitOfTheDynamicSection) {
  elf.segments[ElfBytes::kData].p_memsz = 2 * kMaxDynamicBytes;
  for (uint64_t size : {kMaxDynamicBytes, kMaxDynamicBytes + 1}) {
    elf.segments[ElfBytes::kNote] = {PT_DYNAMIC, PF_R, 0x2000, 0x3000, 0x3000, size, size, 8};
    file = elf.MapAt(kBase, &memory);
    std::vector<std::byte> dynamic(2 * kMaxDynamicBytes);
    const std::array<uint8_t, 12> flags = {0xfb, 0xff, 0xff, 0x6f, 0, 0, 0, 0, 0, 0, 0, 8};  // DT_FLAGS_1: DF_1_PIE
    std::memcpy(dynamic.data(), flags.data(), flags.size());
    memory.Put(kBase + 0x3000, dynamic);
    auto image = ReadElfImage(memory, file, file[1]);
    ASSERT_TRUE(image.ok()) << image.status();
    EXPECT_EQ(image->module.entry, size == kMaxDynamicBytes ? 0x1080u : 0u);
  }
}

TEST_F(ElfImageTest, HeadIsTheSameAndTellsContentsApart) {
  auto image = Read();
  auto head = ReadElfHead(memory, file, file[1]);
  ASSERT_TRUE(image.ok() && head.ok());
  EXPECT_EQ(head->hash, image->head.hash);
  EXPECT_EQ(head->bias, image->head.bias);
  elf.Put(0x210, {0xff});  // first byte of the build id
  auto other = Read();
  ASSERT_TRUE(other.ok());
  EXPECT_NE(head->hash, other->head.hash);
}

// Linked for an address, loaded there (a static program) or elsewhere (a prelinked library).
TEST_F(ElfImageTest, LinkTimeAddressIsNotZero) {
  for (Elf64_Phdr& p : elf.segments) p.p_vaddr += 0x400000;
  auto elsewhere = Read();
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.status();
  EXPECT_EQ(elsewhere->head.bias, kBase - 0x400000);
  EXPECT_EQ(elsewhere->module.eh_frame.address, 0x400400u);
  elf.file.e_type = ET_EXEC;
  file = elf.MapAt(0x400000, &memory);
  auto image = ReadElfImage(memory, file, file[1]);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->head.bias, 0u);
  EXPECT_EQ(image->head.begin, 0x400000u);
}

// lld lets segments share a page of the file: both the headers and the text are mapped from offset 0.
TEST_F(ElfImageTest, SegmentsShareAPageOfTheFile) {
  elf.segments[ElfBytes::kText] = {PT_LOAD, PF_R | PF_X, 0x800, 0x1800, 0x1800, 0x100, 0x100, 0x1000};
  elf.segments[ElfBytes::kData].p_offset = 0x900;
  elf.segments[ElfBytes::kData].p_vaddr = 0x3900;
  const std::vector<std::byte> all = elf.File();
  const std::vector<std::byte> page(all.begin(), all.begin() + 0x1000);
  for (uint64_t at : {0x0, 0x1000, 0x3000}) memory.Put(kBase + at, page);
  file = {{kBase, kBase + 0x1000, 0, false},
          {kBase + 0x1000, kBase + 0x2000, 0, true},
          {kBase + 0x3000, kBase + 0x4000, 0, false}};
  auto by_text = ReadElfImage(memory, file, file[1]);
  ASSERT_TRUE(by_text.ok()) << by_text.status();
  EXPECT_EQ(by_text->head.bias, kBase);
  auto by_headers = ReadElfImage(memory, file, file[0]);
  ASSERT_TRUE(by_headers.ok()) << by_headers.status();
  EXPECT_EQ(by_headers->head.bias, kBase);
}

TEST_F(ElfImageTest, LoadedTwiceAndMappedAsData) {
  constexpr uint64_t kOther = kBase + 0x100000;
  file = elf.MapAt(kBase, &memory);
  for (const FileMapping& m : elf.MapAt(kOther, &memory)) file.push_back(m);
  memory.Put(kOther + 0x100000, elf.File());
  file.push_back({kOther + 0x100000, kOther + 0x103000, 0, false});
  EXPECT_EQ(ReadElfImage(memory, file, file[1])->head.bias, kBase);
  EXPECT_EQ(ReadElfImage(memory, file, file[4])->head.bias, kOther);
}

TEST_F(ElfImageTest, TextMovedToAnonymousMemory) {
  file = elf.MapAt(kBase, &memory);
  file.erase(file.begin() + 1);
  auto image = ReadElfImage(memory, file, file[0]);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->head.bias, kBase);
}

// patchelf moves the program headers to the end of the file.
TEST_F(ElfImageTest, ProgramHeadersInAnotherSegment) {
  std::vector<std::byte> all = elf.File();
  std::copy_n(all.begin() + sizeof(Elf64_Ehdr), sizeof(Elf64_Phdr) * ElfBytes::kSegments, all.begin() + 0x2100);
  std::copy_n(all.begin() + 0x2000, 0x1000, elf.bytes.begin() + 0x2000);
  elf.file.e_phoff = 0x2100;
  auto image = Read();
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->head.bias, kBase);
}

TEST_F(ElfImageTest, SegmentsAtDifferentDistances) {
  file = elf.MapAt(kBase, &memory);
  file[2].offset = 0x1000;
  elf.segments[ElfBytes::kData].p_flags = PF_R;
  elf.MapAt(kBase, &memory);
  EXPECT_FALSE(ReadElfImage(memory, file, file[1]).ok());
}

// The dynamic linker first maps all of the file in one piece, which reserves the addresses, and data last.
TEST_F(ElfImageTest, LibraryThatIsBeingLoaded) {
  file = elf.MapAt(kBase, &memory);
  file[2] = {kBase + 0x2000, kBase + 0x4000, 0x2000, false};
  auto image = ReadElfImage(memory, file, file[1]);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->head.bias, kBase);
  EXPECT_FALSE(image->module.eh_frame.bytes.empty());
}

TEST_F(ElfImageTest, AnchorFitsNoSegment) {
  file = elf.MapAt(kBase, &memory);
  EXPECT_FALSE(ReadElfImage(memory, file, {kBase, kBase + 0x1000, 0, true}).ok()) << "headers are not executable";
  EXPECT_FALSE(ReadElfImage(memory, file, {kBase, kBase + 0x1000, 0x5000, false}).ok()) << "beyond the segments";
  EXPECT_FALSE(ReadElfImage(memory, {}, {kBase, kBase + 0x1000, 0, true}).ok());
}

TEST_F(ElfImageTest, NotOfThisMachine) {
  const Elf64_Ehdr good = elf.file;
  auto refused = [&] {
    bool result = !Read().ok();
    elf.file = good;
    return result;
  };
  elf.file.e_ident[0] = 0;
  EXPECT_TRUE(refused());
  elf.file.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_TRUE(refused());
  elf.file.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_TRUE(refused());
  elf.file.e_type = ET_REL;
  EXPECT_TRUE(refused());
  elf.file.e_machine = EM_386;  // of 64 bits, which there are none
  EXPECT_TRUE(refused());
  elf.file.e_phentsize = 32;
  EXPECT_TRUE(refused());
  elf.file.e_phnum = 0;
  EXPECT_TRUE(refused());
  EXPECT_TRUE(Read().ok());
}

TEST_F(ElfImageTest, AsManyProgramHeadersAsAllowed) {
  elf.bytes.assign(0x3000, std::byte{0});
  elf.segments.resize(kMaxProgramHeaders + 1);
  elf.segments[ElfBytes::kNote].p_type = PT_NULL;
  elf.segments[ElfBytes::kEhFrameHdr].p_type = PT_NULL;
  elf.segments[ElfBytes::kSFrame].p_type = PT_NULL;
  elf.file.e_phnum = kMaxProgramHeaders;
  EXPECT_TRUE(Read().ok());
  elf.file.e_phnum = kMaxProgramHeaders + 1;
  EXPECT_FALSE(Read().ok());
}

TEST_F(ElfImageTest, MalformedSegments) {
  const Elf64_Phdr good = elf.segments[ElfBytes::kText];
  auto refused = [&] {
    bool result = !Read().ok();
    elf.segments[ElfBytes::kText] = good;
    return result;
  };
  Elf64_Phdr& text = elf.segments[ElfBytes::kText];
  text.p_memsz = 0x4ff;
  EXPECT_TRUE(refused()) << "more in the file than in memory";
  text.p_memsz = UINT64_MAX;
  EXPECT_TRUE(refused()) << "wraps";
  text.p_vaddr = UINT64_MAX & ~uint64_t{0xfff};
  EXPECT_TRUE(refused()) << "wraps";
  text.p_vaddr = 0x1001;
  EXPECT_TRUE(refused()) << "not congruent to the offset";
  text.p_flags = PF_R;
  EXPECT_TRUE(refused()) << "nothing is executable";
  text.p_type = PT_NULL;
  EXPECT_TRUE(refused()) << "no text";
  EXPECT_TRUE(Read().ok());
}

TEST_F(ElfImageTest, TablesMustLieInOneLoadedSegment) {
  elf.segments[ElfBytes::kEhFrameHdr].p_vaddr = 0x7fc;  // 12 bytes, 4 of them inside
  elf.segments[ElfBytes::kSFrame].p_vaddr = 0x800;
  elf.segments[ElfBytes::kNote].p_vaddr = UINT64_MAX - 4;
  auto image = Read();
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(image->module.eh_frame_hdr.bytes.empty());
  EXPECT_TRUE(image->module.eh_frame.bytes.empty());
  EXPECT_TRUE(image->module.sframe.bytes.empty());
  EXPECT_EQ(image->module.build_id, "");
}

// What the program headers name and cannot be read is damaged, and only that.
TEST_F(ElfImageTest, OneDamagedTableLeavesTheOther) {
  const std::vector<Elf64_Phdr> good = elf.segments;
  auto damaged = [&] {
    auto image = Read();
    elf.segments = good;
    return std::pair(image->module.damaged_eh_frame, image->module.damaged_sframe);
  };
  EXPECT_EQ(damaged(), std::pair(false, false));
  elf.segments[ElfBytes::kSFrame].p_vaddr = 0x7fc;
  EXPECT_EQ(damaged(), std::pair(false, true));
  elf.segments[ElfBytes::kSFrame].p_memsz = kMaxTableBytes + 1;
  EXPECT_EQ(damaged(), std::pair(false, true));
  elf.segments[ElfBytes::kEhFrameHdr].p_vaddr = 0x7fc;
  EXPECT_EQ(damaged(), std::pair(true, false));
  elf.segments[ElfBytes::kSFrame].p_filesz = elf.segments[ElfBytes::kSFrame].p_memsz = 0;
  EXPECT_EQ(damaged(), std::pair(false, false)) << "an empty segment names none";
}

TEST_F(ElfImageTest, TwoSFrameSegmentsAreNone) {
  elf.segments[ElfBytes::kNote] = elf.segments[ElfBytes::kSFrame];
  auto image = Read();
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(image->module.sframe.bytes.empty());
  EXPECT_TRUE(image->module.damaged_sframe);
  EXPECT_EQ(image->module.eh_frame.bytes.size(), 20u);
}

// The chain of entries ends at its zero, at the end of its segment, or where an entry would not fit.
TEST_F(ElfImageTest, EndOfEhFrame) {
  elf.Put(0x410, {0xec, 3, 0, 0});  // 0x414 + 0x3ec = 0x800, and no zero
  EXPECT_EQ(Read()->module.eh_frame.bytes.size(), 0x400u);
  elf.Put(0x410, {0xed, 3, 0, 0});
  EXPECT_EQ(Read()->module.eh_frame.bytes.size(), 16u);
  elf.Put(0x410, {0xff, 0xff, 0xff, 0xff});  // 64-bit lengths: nobody writes them
  EXPECT_EQ(Read()->module.eh_frame.bytes.size(), 16u);
  elf.Put(0x400, {0xff, 0xff, 0, 0});
  EXPECT_TRUE(Read()->module.eh_frame.bytes.empty());
}

// A segment with more than a table may hold, all of it one entry and its end.
class LargeTableTest : public ElfImageTest {
 protected:
  size_t EhFrameSize(uint64_t size, bool is_too_large = false) {
    constexpr uint64_t kAddress = 0x10000000;
    elf.segments[ElfBytes::kNote] = {PT_LOAD, PF_R, 0, kAddress, kAddress, 0, kMaxTableBytes + 0x2000, 0x1000};
    const uint32_t pointer = static_cast<uint32_t>(kAddress) - 0x304;
    std::memcpy(elf.bytes.data() + 0x304, &pointer, 4);
    std::vector<std::byte> table(kMaxTableBytes + 0x2000);
    const uint32_t length = static_cast<uint32_t>(size - 8);
    std::memcpy(table.data(), &length, 4);
    memory.Put(kBase + kAddress, std::move(table));
    const auto image = Read();
    EXPECT_EQ(image->module.too_large, is_too_large) << size;
    return image->module.eh_frame.bytes.size();
  }
};

TEST_F(LargeTableTest, AtTheLimit) {
  EXPECT_EQ(EhFrameSize(300000), 300000u);  // read in several steps
  EXPECT_EQ(EhFrameSize(kMaxTableBytes), kMaxTableBytes);
  EXPECT_EQ(EhFrameSize(kMaxTableBytes + 4, true), kMaxTableBytes) << "without its end";
  EXPECT_EQ(EhFrameSize(kMaxTableBytes + 5, true), 0u);
}

TEST_F(ElfImageTest, NotesBeforeTheBuildId) {
  // name size 1, descriptor size 1, type 7, name and descriptor padded to four bytes each
  elf.Put(0x600, {1, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 'x', 0, 0, 0, 9, 0, 0, 0});
  std::copy_n(elf.bytes.begin() + 0x200, 20, elf.bytes.begin() + 0x614);
  elf.segments[ElfBytes::kNote] = {PT_NOTE, PF_R, 0x600, 0x600, 0x600, 40, 40, 4};
  EXPECT_EQ(Read()->module.build_id, "deadbe0f");
  for (uint64_t size = 0; size < 40; ++size) {
    elf.segments[ElfBytes::kNote].p_memsz = elf.segments[ElfBytes::kNote].p_filesz = size;
    EXPECT_EQ(Read()->module.build_id, "") << size;
  }
  elf.segments[ElfBytes::kNote].p_memsz = 40;
  elf.Put(0x604, {0xff, 0xff, 0xff, 0xff});  // descriptor size
  EXPECT_EQ(Read()->module.build_id, "");
}

TEST_F(ElfImageTest, EveryPrefix) {
  const std::vector<std::byte> all = elf.File();
  file = elf.MapAt(kBase, &memory);
  constexpr size_t kHeaderBytes = sizeof(Elf64_Ehdr) + ElfBytes::kSegments * sizeof(Elf64_Phdr);
  for (size_t size = 0; size < 0x600; ++size) {
    memory.Put(kBase, std::vector<std::byte>(all.begin(), all.begin() + static_cast<ptrdiff_t>(size)));
    auto image = ReadElfImage(memory, file, file[1]);
    ASSERT_EQ(image.ok(), size >= kHeaderBytes) << size;
    if (!image.ok()) continue;
    EXPECT_EQ(image->module.build_id.empty(), size < 0x214) << size;
    EXPECT_EQ(image->module.eh_frame_hdr.bytes.empty(), size < 0x30c) << size;
    EXPECT_EQ(image->module.sframe.bytes.empty(), size < 0x51c) << size;
  }
}

TEST_F(ElfImageTest, EveryByteChanged) {
  const std::vector<std::byte> good = elf.File();
  file = elf.MapAt(kBase, &memory);
  for (size_t at = 0; at < 0x600; ++at) {
    for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<std::byte> page(good.begin(), good.begin() + 0x1000);
      page[at] = static_cast<std::byte>(value);
      memory.Put(kBase, std::move(page));
      auto image = ReadElfImage(memory, file, file[1]);
      if (!image.ok()) continue;
      EXPECT_LT(image->head.begin, image->head.end);
      for (const CodeRange& range : image->module.code) EXPECT_LT(range.begin, range.end);
      EXPECT_LE(image->module.eh_frame.bytes.size(), 0x1000u);
      EXPECT_LE(image->module.sframe.bytes.size(), 0x1000u);
    }
  }
}

}  // namespace
}  // namespace offcpu
