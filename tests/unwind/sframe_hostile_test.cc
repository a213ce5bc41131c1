// Damaged tables: whatever the bytes say, answers must be consistent and the work bounded by the size of the table.
// That nothing outside is read is for the sanitizers to tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/unwind/sframe_builder.h"
#include "tests/unwind/sframe_object.h"
#include "unwind/sframe.h"
#include "unwind/sframe_dump.h"

namespace offcpu {
namespace {

constexpr const Machine* kMachines[] = {&kX86_64, &kAArch64};

struct Seen {
  size_t tables = 0;  // that opened
  size_t found = 0;
  size_t corrupt = 0;
};

void LookUp(SFrameTable& table, uint64_t address, Seen* seen) {
  UnwindRow row;
  const uint64_t before = table.rows_read();
  const FindOutcome outcome = table.Find(address, &row);
  EXPECT_LE(table.rows_read() - before, 65535u) << "those of one function";
  if (outcome == FindOutcome::kFound) {
    ++seen->found;
    EXPECT_LE(row.begin, address);
    EXPECT_GT(row.end, address);
  }
  if (outcome == FindOutcome::kCorrupt) ++seen->corrupt;
}

// Opens the table as that of every machine and asks for what it describes and for what it does not.
void Use(const ModuleTable& module, std::span<const CodeRange> code, Seen* seen) {
  for (const Machine* machine : kMachines) {
    auto opened = SFrameTable::Open(module, code, *machine);
    if (!opened.ok()) continue;
    ++seen->tables;
    SFrameTable& table = **opened;
    EXPECT_LE(table.functions() * 16, module.bytes.size());
    size_t lines = 0;
    DumpSFrame(table, [&](std::string_view line) {
      ++lines;
      EXPECT_LE(line.size(), 256u);
    });
    EXPECT_LE(lines, module.bytes.size()) << "more than a line a byte";
    for (const SFrameSection& section : table.sections()) {
      section.ForEach([&](uint32_t, const SFrameFunction& function) {
        for (uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{function.size} / 2, uint64_t{function.size} - 1}) {
          LookUp(table, function.begin + offset, seen);
        }
      });
    }
    for (const CodeRange& range : code) LookUp(table, range.begin + (range.end - range.begin) / 2, seen);
  }
}

// What a field of this width is replaced by.
template <typename T>
std::vector<T> Replacements(T value) {
  constexpr T kMax = static_cast<T>(~T{0});
  constexpr T kSign = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  return {T{0},
          T{1},
          kMax,
          static_cast<T>(kMax - 1),
          static_cast<T>(value + 1),
          static_cast<T>(value - 1),
          static_cast<T>(value ^ kSign),
          kSign};
}

template <typename T>
void ReplaceEvery(ModuleTable module, std::span<const CodeRange> code, Seen* seen) {
  for (size_t at = 0; at + sizeof(T) <= module.bytes.size(); ++at) {
    T value;
    std::memcpy(&value, module.bytes.data() + at, sizeof(T));
    for (T replacement : Replacements(value)) {
      std::memcpy(module.bytes.data() + at, &replacement, sizeof(T));
      Use(module, code, seen);
    }
    std::memcpy(module.bytes.data() + at, &value, sizeof(T));
  }
}

class SFrameHostileTest : public ::testing::TestWithParam<const char*> {
 protected:
  const SFrameObject object_ = ReadSFrameObject(SFrameFixture(GetParam()));
};

// Replaces every width at every place, which includes every field as it is and every one that it might be taken for.
TEST_P(SFrameHostileTest, EveryFieldReplaced) {
  ASSERT_FALSE(object_.table.bytes.empty());
  Seen seen;
  ReplaceEvery<uint8_t>(object_.table, object_.code, &seen);
  ReplaceEvery<uint16_t>(object_.table, object_.code, &seen);
  ReplaceEvery<uint32_t>(object_.table, object_.code, &seen);
  ReplaceEvery<uint64_t>(object_.table, object_.code, &seen);
  EXPECT_GT(seen.tables, object_.table.bytes.size()) << "most of them open: it is the functions that are damaged";
  EXPECT_GT(seen.corrupt, 0u);
}

TEST_P(SFrameHostileTest, EveryTruncation) {
  Seen seen;
  ModuleTable module = object_.table;
  while (!module.bytes.empty()) {
    module.bytes.pop_back();
    module.bytes.shrink_to_fit();
    Use(module, object_.code, &seen);
  }
  const bool concatenated = std::string(GetParam()) == "concatenated.elf";
  EXPECT_EQ(seen.tables > 0, concatenated) << "only a second section can be lost without a trace";
}

TEST_P(SFrameHostileTest, RandomBytes) {
  std::mt19937 random(20240229);
  Seen seen;
  for (int i = 0; i < 3000; ++i) {
    ModuleTable module = object_.table;
    for (unsigned count = 1 + random() % 8; count > 0; --count) {
      module.bytes[random() % module.bytes.size()] = static_cast<std::byte>(random());
    }
    Use(module, object_.code, &seen);
  }
  EXPECT_GT(seen.found + seen.corrupt, 0u);
}

INSTANTIATE_TEST_SUITE_P(Objects, SFrameHostileTest,
                         ::testing::Values("default.elf", "flexible.elf", "signal.elf", "plt_ibt.elf",
                                           "concatenated.elf", "aarch64.elf"),
                         [](const auto& object) {
                           const std::string name = object.param;
                           return name.substr(0, name.find('.'));
                         });

// A row of a start, an info byte and words, one of which may be missing or too much.
std::vector<uint8_t> RandomRow(std::mt19937_64& random) {
  const uint64_t words = random() % 4;
  std::vector<uint8_t> row = {static_cast<uint8_t>(random() % 8), static_cast<uint8_t>(words << 1 | random() % 2)};
  row.resize(row.size() + words - (words > 0 && random() % 8 == 0) + (random() % 8 == 0));
  for (size_t i = 2; i < row.size(); ++i) row[i] = static_cast<uint8_t>(random());
  return row;
}

// A header that fits, and random functions and rows behind it, some of which are good.
TEST(SFrameRandomTest, BehindAGoodHeader) {
  std::mt19937_64 random(71);
  Seen seen;
  for (int i = 0; i < 3000; ++i) {
    SFrameBuilder bytes(*kMachines[random() % std::size(kMachines)]);
    for (uint64_t count = random() % 8; count > 0; --count) {
      std::vector<std::vector<uint8_t>> rows(random() % 4);
      for (std::vector<uint8_t>& row : rows) row = RandomRow(random);
      const uint8_t signal = random() % 2 == 0 ? SFrameBuilder::kSignal : 0;
      const uint8_t starts = random() % 4 == 0 ? SFrameBuilder::kStart2 : SFrameBuilder::kStart1;
      const uint8_t blocks = random() % 4 == 0 ? SFrameBuilder::kBlocks : 0;
      const uint8_t block_size = blocks != 0 ? static_cast<uint8_t>(random() % 32) : 0;
      bytes.Function(0x1000 + random() % 0x100, static_cast<uint32_t>(random() % 0x80), signal | starts | blocks, rows,
                     random() % 4 == 0, block_size);
    }
    if (random() % 4 == 0) bytes.row_count = static_cast<uint32_t>(random() % 8);
    Use(bytes.Table(), std::vector<CodeRange>{SFrameBuilder::kCode}, &seen);
  }
  EXPECT_EQ(seen.tables, 3000u);
  EXPECT_GT(seen.found, 1000u);
  EXPECT_GT(seen.corrupt, 1000u);
}

// The most rows that one function can have, which all functions share.
TEST(SFrameRandomTest, SharedRowsCostALookUpNoMoreThanOneFunction) {
  SFrameBuilder bytes;
  const uint32_t shared =
      bytes.Function(0x1000, 2, SFrameBuilder::kStart1, std::vector<std::vector<uint8_t>>(65535, {0, 0x03, 8}));
  for (uint64_t i = 1; i < 0x2000; ++i) bytes.Element(0x1000 + 2 * i, 2, shared);
  bytes.row_count = UINT32_MAX;
  const ModuleTable module = bytes.Table();
  auto table = SFrameTable::Open(module, std::vector<CodeRange>{SFrameBuilder::kCode}, kX86_64);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ((*table)->bad_entries(), 0x2000u - 1) << "there are bytes for the rows of the first only";
  Seen seen;
  for (uint64_t i = 0; i < 0x2000; ++i) LookUp(**table, 0x1000 + 2 * i, &seen);
  EXPECT_EQ((*table)->rows_read(), 65535u);
  EXPECT_EQ(seen.found, 1u);
  EXPECT_EQ(seen.corrupt, 0x2000u - 1);
}

}  // namespace
}  // namespace offcpu
