#include "runtimes/hotspot/class_changes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace offcpu {
namespace {

TEST(ClassChanges, VersionIsKnownBetweenTwoReadingsOfTheSameNumbers) {
  ClassChanges changes;
  EXPECT_EQ(changes.At(10), std::nullopt);
  EXPECT_EQ(changes.Note({.unloaded = 3}, /*before_ns=*/10, /*after_ns=*/12), 1u);
  EXPECT_EQ(changes.At(11), std::nullopt) << "it may have been counted after that";
  EXPECT_EQ(changes.Note({.unloaded = 3}, 20, 22), 1u);
  EXPECT_EQ(changes.At(11), std::nullopt);
  EXPECT_EQ(changes.At(12), 1u);
  EXPECT_EQ(changes.At(20), 1u);
  EXPECT_EQ(changes.At(21), std::nullopt);
  EXPECT_EQ(changes.Note({.unloaded = 4}, 30, 32), 2u);
  EXPECT_EQ(changes.At(15), std::nullopt) << "of stacks before, names are not read any more";
  changes.Note({.unloaded = 4}, 40, 42);
  EXPECT_EQ(changes.At(35), 2u);
}

// One without the other changes nothing; but what came to pass one after the other does.
TEST(ClassChanges, VersionIsAnotherOneAfterASafepointAndALoad) {
  ClassChanges changes;
  EXPECT_EQ(changes.Note({.loaded = 1, .safepoints = 1}, 10, 11), 1u);
  EXPECT_EQ(changes.Note({.loaded = 2, .safepoints = 1}, 20, 21), 1u);
  EXPECT_EQ(changes.Note({.loaded = 3, .safepoints = 1}, 30, 31), 1u);
  EXPECT_EQ(changes.Note({.loaded = 3, .safepoints = 2}, 40, 41), 2u);
  EXPECT_EQ(changes.Note({.loaded = 3, .safepoints = 3}, 50, 51), 2u);
  EXPECT_EQ(changes.Note({.loaded = 4, .safepoints = 3}, 60, 61), 3u);
  EXPECT_EQ(changes.Note({.loaded = 5, .safepoints = 4}, 70, 71), 4u);
}

TEST(ClassChanges, CountsAreThoseOfAMomentBetweenTwoEqualReadings) {
  ClassChanges changes;
  EXPECT_EQ(changes.CountsAt(10), std::nullopt);
  changes.Note({.loaded = 1, .safepoints = 1}, 10, 11);
  changes.Note({.loaded = 2, .safepoints = 1}, 20, 21);
  EXPECT_EQ(changes.At(20), 1u);
  EXPECT_EQ(changes.CountsAt(20), std::nullopt);
  changes.Note({.loaded = 2, .safepoints = 2}, 30, 31);
  EXPECT_EQ(changes.CountsAt(25), (ClassCounts{.loaded = 2, .safepoints = 2}));
}

// Counters as a virtual machine keeps them: see perfMemory.hpp.
class ClassCountersTest : public testing::Test {
 protected:
  static constexpr uint64_t kStatics = 0x1000, kBegin = 0x2000;

  ClassCountersTest() {
    layout_.perf_start = kStatics;
    layout_.perf_top = kStatics + 8;
    Put(24, uint32_t{32});  // where the first entry is, in the prologue
    Entry(32, "java.cls.loadedClasses");
    Entry(96, "java.cls.unloadedClasses");
    Entry(160, "sun.rt.safepoints");
    Entry(224, "sun.rt.safepointTime");
    bytes_.resize(288);
    SetEnd(kBegin + 288);
  }

  template <typename T>
  void Put(size_t at, T value) {
    if (bytes_.size() < at + sizeof(value)) bytes_.resize(at + sizeof(value));
    std::memcpy(bytes_.data() + at, &value, sizeof(value));
  }
  // Of 64 bytes: its length, where its name is, of what type it is, where its value is.
  void Entry(size_t at, const std::string& name) {
    Put(at, uint32_t{64});
    Put(at + 4, uint32_t{20});
    Put(at + 12, 'J');
    Put(at + 16, uint32_t{56});
    for (size_t i = 0; i <= name.size(); ++i) Put(at + 20 + i, name.c_str()[i]);
  }
  void SetEnd(uint64_t end) { statics_ = {kBegin, end}; }

  struct Parts : Memory {
    const SpanMemory a, b;
    Parts(const SpanMemory& first, const SpanMemory& second) : a(first), b(second) {}
    bool Read(uint64_t address, std::span<std::byte> out) const override {
      return a.Read(address, out) || b.Read(address, out);
    }
  };
  Parts Read() const {
    return Parts(SpanMemory(kStatics, std::as_bytes(std::span(statics_))),
                 SpanMemory(kBegin, std::as_bytes(std::span(bytes_))));
  }
  ClassCounters Find() const { return ClassCounters::Find(layout_, Read()); }

  HotSpotLayout layout_;
  std::vector<uint64_t> statics_;
  std::vector<std::byte> bytes_;
};

constexpr size_t kLoaded = 32 + 56, kUnloaded = 96 + 56;  // where the values are

TEST_F(ClassCountersTest, AreFoundByTheirNames) {
  Put(kLoaded, uint64_t{70});
  Put(kUnloaded, uint64_t{3});
  Put(160 + 56, uint64_t{5});
  Put(224 + 56, uint64_t{1000});
  const ClassCounters counters = Find();
  EXPECT_FALSE(counters.empty());
  EXPECT_EQ(counters.Read(Read()), (ClassCounts{.unloaded = 3, .loaded = 70, .safepoints = 1005}));
  EXPECT_EQ(counters.Read(SpanMemory(0, {})), std::nullopt);
}

// As the BPF programs read it: 16 bytes at the address, and 4 behind it.
TEST_F(ClassCountersTest, StampIsWhatTheProcessHas) {
  Put(kLoaded, uint64_t{70});
  Put(kUnloaded, uint64_t{3});
  const ClassCounters counters = Find();
  const CodeStamp stamp = counters.StampOf(*counters.Read(Read()));
  EXPECT_EQ(stamp.address, kBegin + kLoaded);
  EXPECT_EQ(stamp.offset, kUnloaded - kLoaded);
  EXPECT_EQ(stamp.words[0], 70u);
  EXPECT_EQ(stamp.words[1], Read().ReadValue<uint64_t>(stamp.address + 8));
  EXPECT_EQ(stamp.behind, 3u);
}

TEST_F(ClassCountersTest, IsNoneWhereThereAreNoCounters) {
  SetEnd(kBegin);
  EXPECT_TRUE(Find().empty());
  SetEnd(kBegin + kMaxPerfBytes + 1);
  EXPECT_TRUE(Find().empty());
  layout_.perf_top = 0;
  EXPECT_TRUE(Find().empty());
}

TEST_F(ClassCountersTest, IsNoneOfAnotherFormOrName) {
  Put(96 + 12, 'B');
  EXPECT_TRUE(Find().empty());
  Put(96 + 12, 'J');
  Put(96 + 20 + 24, 's');  // "java.cls.unloadedClassess"
  EXPECT_TRUE(Find().empty());
}

TEST_F(ClassCountersTest, EntriesThatLeadNowhereEndTheSearch) {
  Put(32, uint32_t{0});
  EXPECT_TRUE(Find().empty());
  Put(32, uint32_t{64});
  Put(96 + 16, uint32_t{1000});  // its value would be behind the end
  EXPECT_TRUE(Find().empty());
  Put(96 + 16, uint32_t{57});
  EXPECT_TRUE(Find().empty()) << "it is not aligned";
  Put(96 + 4, uint32_t{0xffffffff});
  EXPECT_TRUE(Find().empty());
}

}  // namespace
}  // namespace offcpu
