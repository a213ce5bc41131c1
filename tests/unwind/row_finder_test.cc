#include "unwind/row_finder.h"

#include <gtest/gtest.h>

#include "tests/unwind/cfi_bytes.h"

namespace offcpu {
namespace {

// A module with tables for the sixteen bytes at each of 0x1000, 0x1010, ...
std::shared_ptr<const Module> MakeModule(int functions = 1) {
  CfiBytes cfi;
  const size_t cie = cfi.Cie();
  for (int i = 0; i < functions; ++i) cfi.Fde(cie, 0x1000 + 16 * static_cast<uint64_t>(i), 16, {});
  auto module = std::make_shared<Module>();
  module->code = {{0x1000, 0x100000}};
  module->eh_frame = cfi.Table();
  return module;
}

TEST(RowFinderTest, AsksOnceAndRemembers) {
  RowFinder finder;
  auto module = MakeModule();
  Row row;
  EXPECT_EQ(finder.Find(module, 0x1004, &row), FindOutcome::kFound);
  EXPECT_EQ(row.begin, 0x1004u);
  EXPECT_EQ(finder.stats().misses, 1u);
  Row again;
  EXPECT_EQ(finder.Find(module, 0x1004, &again), FindOutcome::kFound);
  EXPECT_EQ(again, row);
  EXPECT_EQ(finder.Find(module, 0x2000, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.Find(module, 0x2000, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.stats().misses, 2u);
  EXPECT_EQ(finder.stats().hits, 2u);
}

TEST(RowFinderTest, OrderOfTheSources) {
  RowFinder finder;
  Row row;
  EXPECT_EQ(finder.Find(nullptr, 0x1000, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kFramePointer);
  auto bare = std::make_shared<Module>();
  bare->code = {{0x1000, 0x2000}};
  EXPECT_EQ(finder.Find(bare, 0x1000, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kFramePointer);
  EXPECT_EQ(finder.Find(MakeModule(), 0x1000, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kEhFrame);
  EXPECT_EQ(finder.Find(MakeModule(), 0x1010, &row), FindOutcome::kNotHere) << "never by frame pointer";
  EXPECT_EQ(finder.Find(std::make_shared<Module>(), 0x1000, &row), FindOutcome::kNotHere) << "could not be read";
}

TEST(RowFinderTest, CorruptTableIsDroppedOnce) {
  RowFinder finder;
  auto module = std::make_shared<Module>(Module());
  module->code = {{0x1000, 0x2000}};
  module->eh_frame.bytes.resize(3);
  Row row;
  EXPECT_EQ(finder.Find(module, 0x1000, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.Find(module, 0x1001, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.stats().corrupt_tables, 1u);
}

TEST(RowFinderTest, BadEntriesAreCounted) {
  CfiBytes cfi;
  cfi.Fde(cfi.Cie(), 0x1000, 16, {0x0e});
  // restore in a CIE: found bad only when it is executed
  cfi.Fde(cfi.Entry({0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0xc6}), 0x2000, 16, {});
  auto module = std::make_shared<Module>();
  module->code = {{0x1000, 0x3000}};
  module->eh_frame = cfi.Table();
  RowFinder finder;
  Row row;
  EXPECT_EQ(finder.Find(module, 0x1000, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.stats().bad_entries, 1u);
  EXPECT_EQ(finder.Find(module, 0x2000, &row), FindOutcome::kCorrupt);
  EXPECT_EQ(finder.stats().bad_entries, 2u);
  EXPECT_EQ(finder.stats().corrupt_tables, 0u);
}

TEST(RowFinderTest, LimitOfRows) {
  RowFinder finder({}, {.rows = 4, .bytes = 1 << 20, .modules = 10});
  auto module = MakeModule();
  Row row;
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(finder.Find(module, 0x1000 + i, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.Find(module, 0x1000, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.stats().hits, 1u);
  EXPECT_EQ(finder.stats().clears, 0u);
  EXPECT_EQ(finder.Find(module, 0x1004, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.stats().clears, 1u);
  EXPECT_EQ(finder.Find(module, 0x1004, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.stats().hits, 2u) << "the newest one is kept";
}

TEST(RowFinderTest, LimitOfModules) {
  RowFinder finder({}, {.rows = 100, .bytes = 1 << 20, .modules = 2});
  std::weak_ptr<const Module> held[3];
  Row row;
  for (auto& weak : held) {
    auto module = MakeModule();
    weak = module;
    finder.Find(module, 0x1000, &row);
  }
  EXPECT_EQ(finder.stats().evictions, 1u);
  EXPECT_TRUE(held[0].expired()) << "the least recently used";
  EXPECT_FALSE(held[1].expired());
  finder.Find(held[1].lock(), 0x1000, &row);
  EXPECT_EQ(finder.stats().hits, 1u);
  finder.Find(MakeModule(), 0x1000, &row);
  EXPECT_TRUE(held[2].expired());
  EXPECT_FALSE(held[1].expired());
}

TEST(RowFinderTest, LimitOfBytes) {
  auto large = MakeModule(1000);
  const size_t bytes = EhFrameTable::Open(large->eh_frame)->bytes();
  RowFinder exact({}, {.rows = 100, .bytes = 2 * bytes, .modules = 10});
  auto other = MakeModule(1000);
  Row row;
  exact.Find(large, 0x1000, &row);
  exact.Find(other, 0x1000, &row);
  EXPECT_EQ(exact.stats().evictions, 0u);
  RowFinder less({}, {.rows = 100, .bytes = 2 * bytes - 1, .modules = 10});
  less.Find(large, 0x1000, &row);
  less.Find(other, 0x1000, &row);
  EXPECT_EQ(less.stats().evictions, 1u);
  EXPECT_EQ(less.Find(other, 0x1000, &row), FindOutcome::kFound);
  EXPECT_EQ(less.stats().hits, 1u);
}

}  // namespace
}  // namespace offcpu
