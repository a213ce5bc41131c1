#include "process/elf/exported_symbols.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "tests/process/elf/elf_bytes.h"

namespace offcpu {
namespace {

constexpr uint64_t kBase = 0x7f0000000000;
constexpr uint64_t kDynamic = 0x600;
constexpr uint64_t kSymbols = 0x680;  // three
constexpr uint64_t kStrings = 0x6d0;  // 10 bytes
constexpr uint64_t kHash = 0x700;

// The hand-made object with a PT_DYNAMIC in its first segment.
class ExportedSymbolsTest : public ::testing::Test {
 protected:
  ExportedSymbolsTest() {
    elf_.segments.push_back({PT_DYNAMIC, PF_R, kDynamic, kDynamic, kDynamic, 0x60, 0x60, 8});
    elf_.file.e_phnum = ElfBytes::kSegments + 1;
    for (size_t i = 0; i < 3 * sizeof(Elf64_Sym); ++i) elf_.bytes[kSymbols + i] = static_cast<std::byte>(i);
    PutHash();
  }

  template <typename T>
  void PutAt(uint64_t at, std::initializer_list<T> values) {
    std::memcpy(elf_.bytes.data() + at, std::data(values), values.size() * sizeof(T));
  }
  void PutDynamic(uint64_t symbols, uint64_t strings, uint64_t bytes, uint64_t hash_tag, uint64_t hash) {
    PutAt<uint64_t>(kDynamic, {DT_SYMTAB, symbols, DT_STRTAB, strings, DT_STRSZ, bytes, hash_tag, hash, DT_NULL, 0});
  }
  void PutHash() {
    PutDynamic(kSymbols, kStrings, 10, DT_HASH, kHash);
    PutAt<uint32_t>(kHash, {1, 3, 1, 0, 2, 0});
  }
  // Two buckets, a filter of one word; symbols from 1 on, in chains of which the last one ends with symbol 2.
  void PutGnuHash() {
    PutDynamic(kSymbols, kStrings, 10, DT_GNU_HASH, kHash);
    PutAt<uint32_t>(kHash, {2, 1, 1, 0, /*filter*/ 0, 0, /*buckets*/ 1, 2, /*chains*/ 0x11, 0x21});
  }

  Module Read(MemoryLease lease = {}) {
    PieceMemory memory;
    const std::vector<FileMapping> file = elf_.MapAt(kBase, &memory);
    absl::StatusOr<ElfImage> image = ReadElfImage(memory, file, file[1], std::move(lease));
    EXPECT_TRUE(image.ok()) << image.status();
    AddExportedSymbols(memory, &*image);
    return std::move(image->module);
  }
  void ExpectThree() {
    const Module module = Read();
    EXPECT_EQ(module.dynamic_symbols.address, kSymbols);
    ASSERT_EQ(module.dynamic_symbols.bytes.size(), 72u);
    EXPECT_EQ(module.dynamic_symbols.bytes[71], std::byte{71});
    EXPECT_EQ(module.dynamic_strings.address, kStrings);
    EXPECT_EQ(module.dynamic_strings.bytes.size(), 10u);
    EXPECT_FALSE(module.over_budget);
  }
  void ExpectNone() { EXPECT_TRUE(Read().dynamic_symbols.bytes.empty()); }

  ElfBytes elf_;
};

TEST_F(ExportedSymbolsTest, AreCountedByTheirHashTable) { ExpectThree(); }

TEST_F(ExportedSymbolsTest, AreCountedByTheirGnuHashTable) {
  PutGnuHash();
  ExpectThree();
}

// As the dynamic linker of glibc leaves them.
TEST_F(ExportedSymbolsTest, AddressesMayHaveBeenRelocated) {
  PutDynamic(kBase + kSymbols, kBase + kStrings, 10, DT_HASH, kBase + kHash);
  ExpectThree();
}

TEST_F(ExportedSymbolsTest, WithoutAHashTableNothingSaysHowManyThereAre) {
  PutDynamic(kSymbols, kStrings, 10, DT_DEBUG, 0);
  ExpectNone();
}

TEST_F(ExportedSymbolsTest, AChainWithoutAnEndIsNotFollowedOutOfTheObject) {
  PutGnuHash();
  for (size_t at = kHash + 36; at < 0x1000; ++at) elf_.bytes[at] = std::byte{0x10};
  ExpectNone();
}

TEST_F(ExportedSymbolsTest, MoreThanTheObjectHasAreNone) {
  PutAt<uint32_t>(kHash + 4, {0x10000});
  ExpectNone();
  PutAt<uint32_t>(kHash + 4, {0xffffffff});
  ExpectNone();
  PutHash();
  PutDynamic(kSymbols, kStrings, 0x4000, DT_HASH, kHash);
  EXPECT_TRUE(Read().dynamic_strings.bytes.empty());
}

TEST_F(ExportedSymbolsTest, AreTheObjectsOwn) {
  PieceMemory memory;
  PutDynamic(kBase + 0x10000 + kSymbols, kStrings, 10, DT_HASH, kHash);
  const std::vector<FileMapping> file = elf_.MapAt(kBase, &memory);
  memory.Put(kBase + 0x10000, std::vector<std::byte>(0x1000));
  absl::StatusOr<ElfImage> image = ReadElfImage(memory, file, file[1]);
  ASSERT_TRUE(image.ok());
  AddExportedSymbols(memory, &*image);
  EXPECT_TRUE(image->module.dynamic_symbols.bytes.empty());
}

TEST_F(ExportedSymbolsTest, TheirMemoryIsPaidFor) {
  const Module all = Read();
  size_t bytes = 0;
  for (const auto table : kAllModuleTables) bytes += (all.*table).bytes.size();
  const auto budget = [](size_t room) {
    const size_t limit = room * (MemoryBudget::kShare + 1) / MemoryBudget::kShare + 1;
    return MemoryLease(std::make_shared<MemoryBudget>(limit), 1000);
  };
  EXPECT_EQ(Read(budget(bytes)).memory.bytes(), bytes);
  EXPECT_FALSE(all.names_left_out);
  const Module without = Read(budget(bytes - 8));  // of the 10 of the strings
  EXPECT_TRUE(without.dynamic_strings.bytes.empty());
  EXPECT_TRUE(without.names_left_out);
  EXPECT_FALSE(without.over_budget) << "it is walked all the same";
}

}  // namespace
}  // namespace offcpu
