#include "unwind/row_finder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unwind/cfi_bytes.h"
#include "tests/unwind/sframe_builder.h"
#include "unwind/eh_frame.h"
#include "unwind/frame_pointer.h"
#include "unwind/sframe.h"

namespace offcpu {
namespace {

// A module with tables for the sixteen bytes at each of 0x1000, 0x1010, ...
std::shared_ptr<const Module> MakeModule(int functions = 1) {
  CfiBytes cfi;
  const size_t cie = cfi.Cie();
  for (int i = 0; i < functions; ++i) cfi.Fde(cie, 0x1000 + 16 * static_cast<uint64_t>(i), 16, {});
  auto module = std::make_shared<Module>();
  module->code = {{0x1000, 0x1100 + 16 * static_cast<uint64_t>(functions)}};
  module->eh_frame = cfi.Table();
  return module;
}

TEST(RowFinderTest, AsksOnceAndRemembers) {
  RowFinder finder(kX86_64);
  auto module = MakeModule();
  UnwindRow row;
  EXPECT_EQ(finder.Find(module, 0x1004, false, &row), FindOutcome::kFound);
  EXPECT_EQ(row.begin, 0x1004u);
  EXPECT_EQ(finder.stats().misses, 1u);
  UnwindRow again;
  EXPECT_EQ(finder.Find(module, 0x1004, false, &again), FindOutcome::kFound);
  EXPECT_EQ(again, row);
  EXPECT_EQ(finder.Find(module, 0x2000, false, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.Find(module, 0x2000, false, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.stats().misses, 2u);
  EXPECT_EQ(finder.stats().hits, 2u);
}

TEST(RowFinderTest, OrderOfTheSources) {
  RowFinder finder(kX86_64);
  UnwindRow row;
  EXPECT_EQ(finder.Find(nullptr, 0x1000, false, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kFramePointer);
  auto bare = std::make_shared<Module>();
  bare->code = {{0x1000, 0x2000}};
  EXPECT_EQ(finder.Find(bare, 0x1000, false, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kFramePointer);
  EXPECT_EQ(finder.Find(MakeModule(), 0x1000, false, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kEhFrame);
  EXPECT_EQ(finder.Find(MakeModule(), 0x1010, false, &row), FindOutcome::kNotHere) << "never by frame pointer";
  EXPECT_EQ(finder.Find(std::make_shared<Module>(), 0x1000, false, &row), FindOutcome::kNotHere) << "could not be read";
}

TEST(RowFinderTest, CorruptTableIsDroppedOnce) {
  RowFinder finder(kX86_64);
  auto module = std::make_shared<Module>(Module());
  module->code = {{0x1000, 0x2000}};
  module->eh_frame.bytes.resize(3);
  UnwindRow row;
  EXPECT_EQ(finder.Find(module, 0x1000, false, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.Find(module, 0x1001, false, &row), FindOutcome::kNotHere);
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
  RowFinder finder(kX86_64);
  UnwindRow row;
  EXPECT_EQ(finder.Find(module, 0x1000, false, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.stats().bad_entries, 1u);
  EXPECT_EQ(finder.Find(module, 0x2000, false, &row), FindOutcome::kCorrupt);
  EXPECT_EQ(finder.stats().bad_entries, 2u);
  EXPECT_EQ(finder.stats().corrupt_tables, 0u);
}

TEST(RowFinderTest, LimitOfRows) {
  RowFinder finder(kX86_64, {}, {.rows = 4, .bytes = 1 << 20, .modules = 10});
  auto module = MakeModule();
  UnwindRow row;
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(finder.Find(module, 0x1000 + i, false, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.Find(module, 0x1000, false, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.stats().hits, 1u);
  EXPECT_EQ(finder.stats().clears, 0u);
  EXPECT_EQ(finder.Find(module, 0x1004, false, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.stats().clears, 1u);
  EXPECT_EQ(finder.Find(module, 0x1004, false, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.stats().hits, 2u) << "the newest one is kept";
}

TEST(RowFinderTest, LimitOfModules) {
  RowFinder finder(kX86_64, {}, {.rows = 100, .bytes = 1 << 20, .modules = 2});
  std::weak_ptr<const Module> held[3];
  UnwindRow row;
  for (auto& weak : held) {
    auto module = MakeModule();
    weak = module;
    finder.Find(module, 0x1000, false, &row);
  }
  EXPECT_EQ(finder.stats().evictions, 1u);
  EXPECT_TRUE(held[0].expired()) << "the least recently used";
  EXPECT_FALSE(held[1].expired());
  finder.Find(held[1].lock(), 0x1000, false, &row);
  EXPECT_EQ(finder.stats().hits, 1u);
  finder.Find(MakeModule(), 0x1000, false, &row);
  EXPECT_TRUE(held[2].expired());
  EXPECT_FALSE(held[1].expired());
}

TEST(RowFinderTest, LimitOfBytes) {
  auto large = MakeModule(1000);
  const size_t bytes = EhFrameTable::Open(large->eh_frame, kX86_64)->bytes();
  RowFinder exact(kX86_64, {}, {.rows = 100, .bytes = 2 * bytes, .modules = 10});
  auto other = MakeModule(1000);
  UnwindRow row;
  exact.Find(large, 0x1000, false, &row);
  exact.Find(other, 0x1000, false, &row);
  EXPECT_EQ(exact.stats().evictions, 0u);
  RowFinder less(kX86_64, {}, {.rows = 100, .bytes = 2 * bytes - 1, .modules = 10});
  less.Find(large, 0x1000, false, &row);
  less.Find(other, 0x1000, false, &row);
  EXPECT_EQ(less.stats().evictions, 1u);
  EXPECT_EQ(less.Find(other, 0x1000, false, &row), FindOutcome::kFound);
  EXPECT_EQ(less.stats().hits, 1u);
}

// Modules of one user; what is prepared of each takes the same room.
class RowFinderBudgetTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Module> ModuleOf(uid_t owner) {
    auto module = std::const_pointer_cast<Module>(MakeModule(2000));
    module->memory = MemoryLease(budget_, owner);
    return module;
  }
  static constexpr size_t kEach = 400'000;  // while it is being prepared, and more than half of that afterwards

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(2 * kEach);
  RowFinder finder_{kX86_64};
  UnwindRow row_;
};

TEST_F(RowFinderBudgetTest, WhatIsPreparedIsPaidForAndGivenBack) {
  {
    RowFinder finder(kX86_64);
    EXPECT_EQ(finder.Find(ModuleOf(1), 0x1000, false, &row_), FindOutcome::kFound);
    const size_t bytes = EhFrameTable::Open(MakeModule(2000)->eh_frame, kX86_64)->bytes();
    EXPECT_EQ(budget_->stats().bytes, bytes);
  }
  EXPECT_EQ(budget_->stats().bytes, 0u);
}

TEST_F(RowFinderBudgetTest, EachUserPaysWithHisOwn) {
  const auto victim = ModuleOf(0);
  EXPECT_EQ(finder_.Find(victim, 0x1000, false, &row_), FindOutcome::kFound);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(finder_.Find(ModuleOf(1), 0x1000, false, &row_), FindOutcome::kFound);
  EXPECT_GT(finder_.stats().evictions, 10u);
  EXPECT_LT(budget_->stats().bytes, 2 * kEach);
  const uint64_t hits = finder_.stats().hits;
  EXPECT_EQ(finder_.Find(victim, 0x1000, false, &row_), FindOutcome::kFound);
  EXPECT_EQ(finder_.stats().hits, hits + 1) << "it is still there";
}

TEST_F(RowFinderBudgetTest, WithoutRoomThereIsNoRowForNow) {
  const auto module = ModuleOf(1);
  MemoryLease other(budget_, 1);
  ASSERT_TRUE(other.Grow(kEach + kEach / 2 - 1000));
  EXPECT_EQ(finder_.Find(module, 0x1000, true, &row_), FindOutcome::kNotHere) << "nor one of the frame pointer";
  EXPECT_EQ(finder_.stats().no_room, 1u);
  other.Shrink(other.bytes());
  int asked = 0;
  while (finder_.Find(module, 0x1000, true, &row_) != FindOutcome::kFound && asked < 1000) ++asked;
  EXPECT_LT(asked, 1000) << "it is asked for again";
  EXPECT_EQ(row_.source, FrameSource::kEhFrame);
}

// What two files have the same is prepared once.
TEST(RowFinderTest, ModulesThatShareTheirTablesShareTheRows) {
  RowFinder finder(kX86_64);
  UnwindRow row;
  const auto module = MakeModule();
  auto copy = std::make_shared<Module>();
  copy->code = module->code;
  copy->same_tables = module;
  EXPECT_EQ(finder.Find(module, 0x1004, false, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.Find(copy, 0x1004, false, &row), FindOutcome::kFound);
  EXPECT_EQ(finder.stats().hits, 1u);
}

// 0x1000 by both tables, 0x1100 by SFrame only, 0x1200 by .eh_frame only, 0x1300 by none. Rows of .eh_frame have the
// CFA at rsp + 8, those of SFrame at rsp + 16.
class TwoTables : public ::testing::Test {
 protected:
  TwoTables() {
    CfiBytes cfi;
    const size_t cie = cfi.Cie();
    cfi.Fde(cie, 0x1000, 0x100, {});
    cfi.Fde(cie, 0x1200, 0x100, {});
    cfi.Fde(cie, 0x2000, kMostOfTheCode, {});
    module->code = {{0x1000, 0x10000}};
    module->eh_frame = cfi.Table();
    sframe.OnStack(0x1000, 0x100, 16);
    sframe.OnStack(0x1100, 0x100, 16);
    sframe.OnStack(0x2000, kMostOfTheCode, 16);
    module->sframe = sframe.Table();
  }

  static constexpr uint32_t kMostOfTheCode = 0x8000;
  static UnwindOrder Order(const char* text) { return *ParseUnwindOrder(text); }
  // "sframe", "eh_frame", "fp", or "none".
  static std::string SourceOf(RowFinder& finder, const std::shared_ptr<const Module>& m, uint64_t address,
                              bool plausible = false) {
    UnwindRow row;
    if (finder.Find(m, address, plausible, &row) != FindOutcome::kFound) return "none";
    if (row.source != FrameSource::kFramePointer) {
      EXPECT_EQ(row.cfa.offset, row.source == FrameSource::kSFrame ? 16 : 8);
    }
    return std::string(Name(row.source));
  }
  // The bytes of its SFrame table when 0x1010 has been asked for.
  static size_t BytesAfterALookUp(const Module& of) {
    const auto table = SFrameTable::Open(of.sframe, of.code, kX86_64).value();
    UnwindRow row;
    EXPECT_EQ(table->Find(0x1010, &row), FindOutcome::kFound);
    return table->bytes();
  }
  std::string Sources(const char* order, bool plausible = false) {
    RowFinder finder(kX86_64, Order(order));
    std::string text;
    for (uint64_t address : {0x1010, 0x1110, 0x1210, 0x1310}) {
      text += SourceOf(finder, module, address, plausible) + " ";
      EXPECT_EQ(SourceOf(finder, module, address, plausible) + " ", text.substr(text.rfind(' ', text.size() - 2) + 1))
          << "from the cache";
    }
    return text;
  }

  // .debug_frame of 0x1200 and 0x1300, and of most of the code.
  void AddDebugFrame() {
    const std::vector<uint8_t> cie = {16, 0,    0,  0,    0xff, 0xff, 0xff, 0xff, 1, 0,
                                      1,  0x78, 16, 0x0c, 7,    8,    0x90, 1,    0, 0};
    std::vector<uint8_t> bytes = cie;
    for (const uint8_t page : {uint8_t{0x12}, uint8_t{0x13}}) {
      bytes.insert(bytes.end(), {20, 0,    0, 0, 0, 0, 0, 0,    // length, its CIE
                                 0,  page, 0, 0, 0, 0, 0, 0,    // begin
                                 0,  1,    0, 0, 0, 0, 0, 0});  // size
    }
    bytes.insert(bytes.end(), {20, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0});
    for (const uint8_t byte : bytes) module->debug_frame.bytes.push_back(std::byte{byte});
  }

  std::shared_ptr<Module> module = std::make_shared<Module>();
  SFrameBuilder sframe;
};

// A trampoline at 0x1000 for .eh_frame and at 0x1400 for SFrame, which says of the first that it is none.
TEST_F(TwoTables, BeginsOfTrampolinesAreAskedInTheirOrder) {
  CfiBytes cfi;
  const size_t cie = cfi.Cie("zRS");
  cfi.Fde(cie, 0x1000, 0x100, {});
  cfi.Fde(cie, 0x1200, 0x100, {});
  module->eh_frame = cfi.Table();
  sframe.Function(0x1400, 0x10, SFrameBuilder::kSignal, {});
  module->sframe = sframe.Table();
  const auto begins = [this](const char* order) {
    RowFinder finder(kX86_64, Order(order));
    std::string text;
    for (uint64_t address : {0x1000, 0x1200, 0x1201, 0x1400, 0x1401, 0x3000}) {
      text += finder.BeginsSignalFrame(module, address) ? "y" : "-";
    }
    return text;
  };
  EXPECT_EQ(begins("sframe,eh_frame,fp"), "-y-y--");
  EXPECT_EQ(begins("eh_frame,sframe"), "yy-y--");
  EXPECT_EQ(begins("sframe"), "---y--");
  EXPECT_EQ(begins("eh_frame"), "yy----");
  EXPECT_EQ(begins("fp"), "------");
  RowFinder finder(kX86_64);
  EXPECT_FALSE(finder.BeginsSignalFrame(nullptr, 0x1200));
}

TEST_F(TwoTables, AreAskedInTheirOrder) {
  EXPECT_EQ(Sources("sframe,eh_frame,fp"), "sframe sframe eh_frame none ");
  EXPECT_EQ(Sources("eh_frame,sframe,fp"), "eh_frame sframe eh_frame none ");
  EXPECT_EQ(Sources("sframe"), "sframe sframe none none ");
  EXPECT_EQ(Sources("eh_frame"), "eh_frame none eh_frame none ");
}

TEST_F(TwoTables, FramePointerWhereItsPlaceInTheOrderAllowsIt) {
  for (bool plausible : {false, true}) {
    EXPECT_EQ(Sources("sframe,fp", plausible), "sframe sframe none none ");
    EXPECT_EQ(Sources("fp", plausible), "fp fp fp fp ");
  }
  EXPECT_EQ(Sources("fp,eh_frame", true), "fp fp fp fp ");
  EXPECT_EQ(Sources("fp,eh_frame", false), "eh_frame none eh_frame none ");
  module->sframe = ModuleTable();
  EXPECT_EQ(Sources("sframe,fp"), "fp fp fp fp ") << "no source before it has a table";
}

TEST_F(TwoTables, GeneratedCodeHasAFramePointerAtMost) {
  RowFinder with(kX86_64);
  EXPECT_EQ(SourceOf(with, nullptr, 0x1000), "fp");
  RowFinder without(kX86_64, Order("sframe,eh_frame"));
  EXPECT_EQ(SourceOf(without, nullptr, 0x1000, true), "none");
}

TEST_F(TwoTables, DamagedSFrameLeavesEhFrame) {
  for (size_t at : {3, 4, 8, 16}) {  // flags, ABI, number of functions, bytes of rows
    module->sframe = sframe.Table();
    module->sframe.bytes[at] = std::byte{0x7f};
    RowFinder finder(kX86_64);
    EXPECT_EQ(SourceOf(finder, module, 0x1010), "eh_frame") << at;
    EXPECT_EQ(SourceOf(finder, module, 0x1110), "none") << at;
    EXPECT_EQ(SourceOf(finder, module, 0x1110, true), "none") << "never by frame pointer";
    EXPECT_EQ(finder.stats().corrupt_tables, 1u) << at;
  }
  module->sframe = ModuleTable();
  module->damaged_sframe = true;
  RowFinder finder(kX86_64);
  EXPECT_EQ(SourceOf(finder, module, 0x1010), "eh_frame");
  EXPECT_EQ(finder.stats().corrupt_tables, 1u) << "it could not even be read";
}

TEST_F(TwoTables, DamagedEhFrameLeavesSFrame) {
  module->eh_frame.bytes.resize(3);
  EXPECT_EQ(Sources("eh_frame,sframe"), "sframe sframe none none ");
  module->eh_frame = ModuleTable();
  module->damaged_eh_frame = true;
  RowFinder finder(kX86_64, Order("eh_frame,sframe,fp"));
  EXPECT_EQ(SourceOf(finder, module, 0x1010), "sframe");
  EXPECT_EQ(SourceOf(finder, module, 0x1310, true), "none");
  EXPECT_EQ(finder.stats().corrupt_tables, 1u);
}

// One damaged function speaks against all of the table; what it said before is forgotten with it.
TEST_F(TwoTables, DamagedFunctionEndsTheTable) {
  constexpr uint8_t kNoStart = 0x03;  // of a size that does not exist
  sframe.Function(0x1200, 0x100, kNoStart, {{0, 0x03, 16}});
  module->sframe = sframe.Table();
  RowFinder finder(kX86_64);
  EXPECT_EQ(SourceOf(finder, module, 0x1010), "sframe");
  EXPECT_EQ(finder.stats().bad_entries, 1u);
  EXPECT_EQ(finder.stats().corrupt_tables, 0u);
  EXPECT_EQ(SourceOf(finder, module, 0x1210), "eh_frame");
  EXPECT_EQ(finder.stats().corrupt_tables, 1u);
  EXPECT_EQ(SourceOf(finder, module, 0x1010), "eh_frame");
  EXPECT_EQ(SourceOf(finder, module, 0x1110), "none");
  EXPECT_EQ(finder.stats().corrupt_tables, 1u);
}

TEST_F(TwoTables, OlderVersionsArePassedOver) {
  for (uint8_t version : {uint8_t{1}, uint8_t{2}}) {
    sframe.version = version;
    module->sframe = sframe.Table();
    RowFinder finder(kX86_64);
    EXPECT_EQ(SourceOf(finder, module, 0x1010), "eh_frame");
    EXPECT_EQ(SourceOf(finder, module, 0x1110), "none");
    EXPECT_EQ(finder.stats().sframe_old_versions, 1u);
    EXPECT_EQ(finder.stats().corrupt_tables, 0u);
  }
}

TEST_F(TwoTables, WithoutAHeaderThereIsNoSFrame) {
  module->sframe.bytes.assign(28, std::byte{0});
  RowFinder finder(kX86_64);
  EXPECT_EQ(SourceOf(finder, module, 0x1010), "eh_frame");
  EXPECT_EQ(SourceOf(finder, module, 0x1110), "none");
  EXPECT_EQ(finder.stats().corrupt_tables, 0u);
  EXPECT_EQ(finder.stats().sframe_old_versions, 0u);
}

// Where there is no other table, such code keeps a frame pointer like any that says nothing about itself.
TEST_F(TwoTables, FramePointerWhereTheOnlyTableIsPassedOver) {
  module->eh_frame = ModuleTable();
  for (uint8_t version : {uint8_t{1}, uint8_t{2}, uint8_t{4}}) {
    sframe.version = version;
    module->sframe = sframe.Table();
    EXPECT_EQ(Sources("sframe,eh_frame,fp"), "fp fp fp fp ") << int{version};
    RowFinder finder(kX86_64);
    for (uint64_t address : {0x1010, 0x1110}) EXPECT_EQ(SourceOf(finder, module, address), "fp");
    EXPECT_EQ(finder.stats().sframe_old_versions, 1u);
  }
}

// Functions at 0x10000 and, behind a hole of `hole` bytes, another one; code goes on for `behind` bytes. Far behind is
// a function of `described` bytes.
class HoleTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kHole = 0x10100;

  std::shared_ptr<Module> MakeHole(uint64_t hole, uint64_t behind, bool sframe, uint32_t described = kMinHoleBytes) {
    CfiBytes cfi;
    SFrameBuilder builder;
    const size_t cie = cfi.Cie();
    for (const uint64_t begin : {uint64_t{0x10000}, kHole + hole}) {
      cfi.Fde(cie, begin, 0x100, {});
      builder.OnStack(begin, 0x100, 8);
    }
    auto module = std::make_shared<Module>();
    module->code = {{0x10000, kHole + hole + 0x100 + behind}};
    if (described != 0) {
      cfi.Fde(cie, 0x100000, described, {});
      builder.OnStack(0x100000, described, 8);
      module->code.push_back({0x100000, 0x100000 + described});
    }
    if (sframe) module->sframe = builder.Table();
    if (!sframe) module->eh_frame = cfi.Table();
    return module;
  }
  // "sframe", "eh_frame", "fp" or "none", and the addresses that the answer is for.
  static std::string Answer(const std::shared_ptr<const Module>& module, uint64_t address,
                            const char* order = "sframe,eh_frame,fp") {
    RowFinder finder(kX86_64, *ParseUnwindOrder(order));
    UnwindRow row;
    if (finder.Find(module, address, true, &row) != FindOutcome::kFound) return "none";
    return absl::StrCat(std::string(Name(row.source)), " ", absl::Hex(row.begin), " ", absl::Hex(row.end));
  }
};

TEST_F(HoleTest, LargeOnesHaveAFramePointer) {
  for (const bool sframe : {false, true}) {
    const auto module = MakeHole(kMinHoleBytes, 0, sframe);
    for (const uint64_t address : {kHole, kHole + kMinHoleBytes - 1}) {
      EXPECT_EQ(Answer(module, address), "fp 10100 20100");
      EXPECT_EQ(Answer(module, address, "sframe,eh_frame"), "none") << "not asked for";
    }
    for (const uint64_t address : {kHole - 1, kHole + kMinHoleBytes}) {
      EXPECT_TRUE(Answer(module, address).starts_with(sframe ? "sframe " : "eh_frame ")) << address;
    }
    const auto smaller = MakeHole(kMinHoleBytes - 1, 0, sframe);
    EXPECT_EQ(Answer(smaller, kHole), "none") << "one byte smaller";
    EXPECT_EQ(Answer(smaller, kHole + kMinHoleBytes - 2), "none");
  }
}

// Beside a program without tables are those of its start-up code.
TEST_F(HoleTest, SmallerOnesIfTheyAreMoreThanTheTablesDescribe) {
  for (const bool sframe : {false, true}) {
    EXPECT_EQ(Answer(MakeHole(0x201, 0, sframe, 0), kHole), "fp 10100 10301") << "0x200 bytes are described";
    EXPECT_EQ(Answer(MakeHole(0x200, 0, sframe, 0), kHole), "none");
    EXPECT_EQ(Answer(MakeHole(0x200, 0x200, sframe, 0x100), kHole), "fp 10100 10300") << "both are more";
    EXPECT_EQ(Answer(MakeHole(0x401, 0, sframe, 0x200), kHole), "fp 10100 10501");
    EXPECT_EQ(Answer(MakeHole(0x400, 0, sframe, 0x200), kHole), "none");
  }
}

// In a small program that, too, is more than its own code.
TEST_F(HoleTest, StartUpCodeHasNoFramePointer) {
  for (const uint64_t bytes : {uint64_t{0x1ff}, uint64_t{0x200}}) {
    CfiBytes cfi;
    cfi.Fde(cfi.Cie(), 0x1000, 0x40, {});
    auto module = std::make_shared<Module>();
    module->code = {{0x1000, 0x1040 + bytes}};
    module->eh_frame = cfi.Table();
    EXPECT_EQ(Answer(module, 0x1100), bytes < 0x200 ? "none" : "fp 1040 1240");
  }
}

TEST_F(HoleTest, EndWhereTheCodeEnds) {
  const uint64_t behind = kHole + 1 + 0x100;
  EXPECT_EQ(Answer(MakeHole(1, kMinHoleBytes, false), behind), "fp 10201 20201");
  EXPECT_EQ(Answer(MakeHole(1, kMinHoleBytes - 1, false), behind), "none");
  auto module = MakeHole(1, kMinHoleBytes, false);
  module->code[1] = {module->code[0].end, module->code[0].end + kMinHoleBytes - 1};
  EXPECT_EQ(Answer(module, module->code[1].begin), "none") << "of another segment";
  EXPECT_EQ(Answer(module, module->code[1].end), "none") << "no code";
}

TEST_F(HoleTest, AreWhatNoTableDescribes) {
  auto module = MakeHole(kMinHoleBytes, 0, false);
  SFrameBuilder sframe;
  sframe.OnStack(kHole + 0x1000, 1, 8);
  module->sframe = sframe.Table();
  EXPECT_EQ(Answer(module, kHole), "none") << "no part of it is large enough";
  EXPECT_EQ(Answer(module, kHole + 0x2000), "none");
  EXPECT_EQ(Answer(module, kHole, "eh_frame,fp"), "fp 10100 20100") << "the other table is not asked for";
}

// Nobody knows what a damaged table would say.
TEST_F(HoleTest, OfADamagedTableAreNone) {
  CfiBytes cfi;
  const size_t cie = cfi.Cie();
  cfi.Fde(cie, 0x10000, 0x100, {});
  cfi.Fde(cie, kHole + kMinHoleBytes, 0x100, {0x0e});
  auto entry = MakeHole(kMinHoleBytes, 0, false);
  entry->eh_frame = cfi.Table();
  EXPECT_EQ(Answer(entry, kHole), "none") << "an entry";
  auto whole = MakeHole(kMinHoleBytes, 0, true);
  whole->eh_frame.bytes.resize(3);
  EXPECT_EQ(Answer(whole, kHole), "none") << "a whole table";
  auto unread = MakeHole(kMinHoleBytes, 0, false);
  unread->damaged_sframe = true;
  EXPECT_EQ(Answer(unread, kHole), "none") << "one that could not be read";
}

// What .eh_frame does not describe, .debug_frame may.
TEST_F(TwoTables, DebugFrameBehindEhFrame) {
  AddDebugFrame();
  EXPECT_EQ(Sources("sframe,eh_frame,fp"), "sframe sframe eh_frame debug_frame ");
  EXPECT_EQ(Sources("eh_frame"), "eh_frame none eh_frame debug_frame ");
  EXPECT_EQ(Sources("sframe"), "sframe sframe none none ");
  module->eh_frame = ModuleTable();
  EXPECT_EQ(Sources("sframe,eh_frame,fp"), "sframe sframe debug_frame debug_frame ");
  module->sframe = ModuleTable();
  EXPECT_EQ(Sources("sframe,eh_frame,fp"), "none none debug_frame debug_frame ") << "no frame pointer beside a table";
  module->debug_frame.bytes.pop_back();
  RowFinder finder(kX86_64);
  EXPECT_EQ(SourceOf(finder, module, 0x1210, true), "none");
  EXPECT_EQ(finder.stats().corrupt_tables, 1u);
}

TEST_F(TwoTables, DebugFrameOfGoIsForInterruptedCodeAndWhereTheFramePointerIsNone) {
  AddDebugFrame();
  UnwindRow row;
  {
    RowFinder finder(kX86_64);
    EXPECT_EQ(finder.FindInterrupted(module, 0x1310, &row), FindOutcome::kNotHere) << "not of Go";
  }
  module->keeps_frame_pointer = true;
  EXPECT_EQ(Sources("sframe,eh_frame,fp"), "sframe sframe eh_frame none ");
  module->eh_frame = ModuleTable();
  module->sframe = ModuleTable();
  EXPECT_EQ(Sources("sframe,eh_frame,fp"), "none none debug_frame debug_frame ");
  EXPECT_EQ(Sources("sframe,fp"), "fp fp fp fp ") << "not asked for";
  RowFinder finder(kX86_64);
  ASSERT_EQ(finder.Find(module, 0x1310, /*plausible_fp=*/true, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kFramePointer);
  EXPECT_EQ(finder.FindInterrupted(module, 0x1310, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kDebugFrame);
  EXPECT_EQ(row.cfa.offset, 8);
  EXPECT_EQ(finder.FindInterrupted(module, 0x1010, &row), FindOutcome::kNotHere);
  EXPECT_EQ(finder.FindInterrupted(nullptr, 0x1310, &row), FindOutcome::kNotHere);
  RowFinder other(kX86_64, Order("sframe,fp"));
  EXPECT_EQ(other.FindInterrupted(module, 0x1310, &row), FindOutcome::kNotHere) << "not asked for";
}

// What SFrame can only say with a register that a row cannot name may be plain in .eh_frame.
TEST_F(TwoTables, ExpressionIsLeftToTheOther) {
  SFrameBuilder flexible;
  for (uint64_t begin : {0x1000, 0x1100}) {
    flexible.Function(begin, 0x100, SFrameBuilder::kStart1,
                      {{0,             // start
                        0x08,          // four words of one byte
                        0x39, 8,       // CFA = rsp + 8
                        0x39, 0x10}},  // RA = rsp + 16 itself, not what lies there
                      /*flexible=*/true);
  }
  module->sframe = flexible.Table();
  RowFinder finder(kX86_64);
  UnwindRow row;
  EXPECT_EQ(finder.Find(module, 0x1010, false, &row), FindOutcome::kFound);
  EXPECT_EQ(row.source, FrameSource::kEhFrame);
  EXPECT_EQ(finder.Find(module, 0x1110, false, &row), FindOutcome::kExpression);
  EXPECT_EQ(finder.stats().corrupt_tables, 0u);
}

// What look-ups add to a table counts like the table.
TEST_F(TwoTables, BytesOfPreparedRowsAreLimited) {
  sframe.Function(0x2000, 0x100, SFrameBuilder::kStart1, std::vector<std::vector<uint8_t>>(1000, {0, 0x03, 16}));
  module->sframe = sframe.Table();
  auto other = std::make_shared<Module>();
  other->code = module->code;
  other->sframe = module->sframe;
  const size_t bytes = 2 * BytesAfterALookUp(*module);
  RowFinder finder(kX86_64, {}, {.rows = 100, .bytes = bytes, .modules = 10});
  for (const std::shared_ptr<Module>& m : {module, other}) EXPECT_EQ(SourceOf(finder, m, 0x1010), "sframe");
  EXPECT_EQ(finder.stats().evictions, 0u);
  EXPECT_EQ(SourceOf(finder, other, 0x2010), "sframe");
  EXPECT_EQ(finder.stats().evictions, 1u);
}

TEST_F(TwoTables, BytesOfBothAreLimited) {
  const size_t bytes = BytesAfterALookUp(*module) + EhFrameTable::Open(module->eh_frame, kX86_64)->bytes();
  for (size_t limit : {2 * bytes, 2 * bytes - 1}) {
    RowFinder finder(kX86_64, {}, {.rows = 100, .bytes = limit, .modules = 10});
    auto other = std::make_shared<Module>();
    other->code = module->code;
    other->eh_frame = module->eh_frame;
    other->sframe = module->sframe;
    for (const std::shared_ptr<Module>& m : {module, other}) {
      EXPECT_EQ(SourceOf(finder, m, 0x1010), "sframe");
      EXPECT_EQ(SourceOf(finder, m, 0x1210), "eh_frame");
    }
    EXPECT_EQ(finder.stats().evictions, limit == 2 * bytes ? 0u : 1u);
  }
}

}  // namespace
}  // namespace offcpu
