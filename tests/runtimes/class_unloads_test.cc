#include "runtimes/hotspot/class_unloads.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace offcpu {
namespace {

TEST(ClassUnloads, AreKnownBetweenTwoReadingsOfTheSameNumber) {
  ClassUnloads unloads;
  EXPECT_EQ(unloads.At(10), std::nullopt);
  unloads.Note(3, /*before_ns=*/10, /*after_ns=*/12);
  EXPECT_EQ(unloads.At(11), std::nullopt) << "it may have been counted after that";
  unloads.Note(3, 20, 22);
  EXPECT_EQ(unloads.At(11), std::nullopt);
  EXPECT_EQ(unloads.At(12), 3u);
  EXPECT_EQ(unloads.At(20), 3u);
  EXPECT_EQ(unloads.At(21), std::nullopt);
  unloads.Note(4, 30, 32);
  EXPECT_EQ(unloads.At(15), std::nullopt) << "of stacks before, names are not read any more";
  unloads.Note(4, 40, 42);
  EXPECT_EQ(unloads.At(35), 4u);
}

// Counters as a virtual machine keeps them: see perfMemory.hpp.
class ClassUnloadsCounter : public testing::Test {
 protected:
  static constexpr uint64_t kStatics = 0x1000, kBegin = 0x2000;

  ClassUnloadsCounter() {
    layout_.perf_start = kStatics;
    layout_.perf_top = kStatics + 8;
    Put(24, uint32_t{32});  // where the first entry is, in the prologue
    Entry(32, "java.cls.loadedClasses");
    Entry(96, "java.cls.unloadedClasses");
    bytes_.resize(160);
    SetEnd(kBegin + 160);
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

  uint64_t Find() const {
    struct Parts : Memory {
      const SpanMemory a, b;
      Parts(const SpanMemory& first, const SpanMemory& second) : a(first), b(second) {}
      bool Read(uint64_t address, std::span<std::byte> out) const override {
        return a.Read(address, out) || b.Read(address, out);
      }
    };
    return FindClassUnloads(layout_, Parts(SpanMemory(kStatics, std::as_bytes(std::span(statics_))),
                                           SpanMemory(kBegin, std::as_bytes(std::span(bytes_)))));
  }

  HotSpotLayout layout_;
  std::vector<uint64_t> statics_;
  std::vector<std::byte> bytes_;
};

TEST_F(ClassUnloadsCounter, IsFoundByItsName) { EXPECT_EQ(Find(), kBegin + 96 + 56); }

TEST_F(ClassUnloadsCounter, IsNoneWhereThereAreNoCounters) {
  SetEnd(kBegin);
  EXPECT_EQ(Find(), 0u);
  SetEnd(kBegin + kMaxPerfBytes + 1);
  EXPECT_EQ(Find(), 0u);
  layout_.perf_top = 0;
  EXPECT_EQ(Find(), 0u);
}

TEST_F(ClassUnloadsCounter, IsNoneOfAnotherFormOrName) {
  Put(96 + 12, 'B');
  EXPECT_EQ(Find(), 0u);
  Put(96 + 12, 'J');
  Put(96 + 20 + 24, 's');  // "java.cls.unloadedClassess"
  EXPECT_EQ(Find(), 0u);
}

TEST_F(ClassUnloadsCounter, EntriesThatLeadNowhereEndTheSearch) {
  Put(32, uint32_t{0});
  EXPECT_EQ(Find(), 0u);
  Put(32, uint32_t{64});
  Put(96 + 16, uint32_t{1000});  // its value would be behind the end
  EXPECT_EQ(Find(), 0u);
  Put(96 + 16, uint32_t{57});
  EXPECT_EQ(Find(), 0u) << "it is not aligned";
  Put(96 + 4, uint32_t{0xffffffff});
  EXPECT_EQ(Find(), 0u);
}

}  // namespace
}  // namespace offcpu
