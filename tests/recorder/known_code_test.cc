#include "recorder/known_code.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/recorder/fake_host.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CodeMapping MappingAt(uint64_t begin) { return {.begin = begin, .end = begin + 0x1000, .device = 1, .changed_ns = 7}; }

// A snapshot that has seen one mapping at `begin`.
ProcessSnapshot SnapshotWith(uint64_t begin, const CodeVersion& version) {
  return {.outcome = SnapshotOutcome::kSeen, .code = version, .mappings = {MappingAt(begin)}, .space = SpaceAt(begin)};
}

class KnownCodeTest : public ::testing::Test {
 protected:
  void Learn(CodeListEvent list) {
    const uint64_t hash = list.hash;
    if (!known_.Learn(std::move(list))) void_.push_back(hash);
  }
  void Learn(Target& target, const ProcessSnapshot& snapshot) {
    if (!known_.Learn(target, snapshot)) void_.push_back(snapshot.code.hash);
  }

  FakeHost host_;
  std::vector<uint64_t> void_;
  KnownCode known_{host_};
  Target target_{kProcess};
};

TEST_F(KnownCodeTest, NothingIsKnownAtFirst) {
  EXPECT_FALSE(known_.FindWhole(target_, kVersion1).has_value());
  EXPECT_FALSE(known_.FindPart(target_, kVersion1).has_value());
}

TEST_F(KnownCodeTest, WhatASnapshotHasSeenIsWhole) {
  const ProcessSnapshot snapshot = SnapshotWith(kCode, kVersion1);
  Learn(target_, snapshot);
  const std::optional<CaptureCode> code = known_.FindWhole(target_, kVersion1);
  ASSERT_TRUE(code.has_value());
  EXPECT_EQ(code->space, snapshot.space);
  EXPECT_TRUE(code->whole);
  EXPECT_FALSE(known_.FindWhole(target_, kVersion2).has_value());
}

TEST_F(KnownCodeTest, AListIsPutTogetherOfPiecesThatWereSeen) {
  Learn(target_, SnapshotWith(kCode, kVersion1));
  Learn(target_, SnapshotWith(0x50000, kVersion2));
  Learn({.hash = 33, .mappings = {MappingAt(kCode), MappingAt(0x50000)}});
  const std::optional<CaptureCode> code = known_.FindWhole(target_, {.sequence = 9, .hash = 33});
  ASSERT_TRUE(code.has_value());
  EXPECT_NE(code->space->Find(kCode), nullptr);
  EXPECT_NE(code->space->Find(0x50000), nullptr);
  EXPECT_TRUE(code->space->is_whole());
}

TEST_F(KnownCodeTest, OfAListAPartMayBeKnown) {
  Learn(target_, SnapshotWith(kCode, kVersion1));
  Learn({.hash = 33, .mappings = {MappingAt(kCode), MappingAt(0x50000)}});
  const CodeVersion both = {.sequence = 9, .hash = 33};
  EXPECT_FALSE(known_.FindWhole(target_, both).has_value());
  const std::optional<CaptureCode> code = known_.FindPart(target_, both);
  ASSERT_TRUE(code.has_value());
  EXPECT_FALSE(code->whole);
  EXPECT_FALSE(code->space->is_whole());
  EXPECT_THAT(code->space->code(), SizeIs(1));
}

// The kernel lists no more than so many mappings.
TEST_F(KnownCodeTest, AFullListIsNotTheWhole) {
  for (const size_t mappings : {kMaxListedMappings - 1, kMaxListedMappings}) {
    ProcessSnapshot snapshot = {.outcome = SnapshotOutcome::kSeen, .code = kVersion1};
    std::vector<MappedCode> code;
    for (uint64_t i = 0; i < mappings; ++i) {
      snapshot.mappings.push_back(MappingAt(kCode + i * 0x1000));
      code.push_back({.begin = kCode + i * 0x1000, .end = kCode + (i + 1) * 0x1000});
    }
    snapshot.space = std::make_shared<AddressSpace>(code);
    Learn(target_, snapshot);
    Learn({.hash = mappings, .mappings = snapshot.mappings});
    EXPECT_EQ(known_.FindWhole(target_, {.sequence = 99, .hash = mappings}).has_value(), mappings < kMaxListedMappings);
  }
}

TEST_F(KnownCodeTest, AHashThatIsNotKnownHasNoList) {
  Learn(target_, SnapshotWith(kCode, kVersion1));
  Learn({.hash = 0, .mappings = {MappingAt(kCode)}});
  EXPECT_FALSE(known_.FindPart(target_, {.sequence = 9, .hash = 0}).has_value());
}

TEST_F(KnownCodeTest, AListMayComeAgain) {
  Learn(target_, SnapshotWith(kCode, kVersion1));
  for (int i = 0; i < 2; ++i) Learn({.hash = kVersion1.hash, .mappings = {MappingAt(kCode)}});
  Learn(target_, SnapshotWith(kCode, kVersion1));
  EXPECT_THAT(void_, IsEmpty());
  EXPECT_EQ(known_.conflicts(), 0u);
}

// Whichever comes second, and whether a snapshot or a list tells it.
TEST_F(KnownCodeTest, AHashOfTwoListsStandsForNone) {
  const CodeVersion version = {.sequence = 9, .hash = 33};
  Learn(target_, SnapshotWith(kCode, kVersion1));
  Learn({.hash = 33, .mappings = {MappingAt(kCode)}});
  ASSERT_TRUE(known_.FindPart(target_, version).has_value());
  Learn({.hash = 33, .mappings = {MappingAt(kCode), MappingAt(0x50000)}});
  EXPECT_THAT(void_, ElementsAre(33));
  EXPECT_EQ(known_.conflicts(), 1u);
  EXPECT_FALSE(known_.FindPart(target_, version).has_value());
  EXPECT_EQ(known_.Trusted(version), (CodeVersion{.sequence = 9}));
  EXPECT_EQ(known_.Trusted(kVersion1), kVersion1);
  Learn({.hash = 33, .mappings = {MappingAt(kCode)}});
  EXPECT_FALSE(known_.FindPart(target_, version).has_value()) << "not later, either";
  EXPECT_EQ(known_.conflicts(), 1u);
}

// What the snapshot has read is the process's own; only the hash says nothing of it.
TEST_F(KnownCodeTest, ASnapshotVoidsAForgedHashAndIsTrueOfItsSequence) {
  Learn({.hash = kVersion1.hash, .mappings = {MappingAt(0x50000)}});
  const ProcessSnapshot snapshot = SnapshotWith(kCode, kVersion1);
  Learn(target_, snapshot);
  EXPECT_THAT(void_, ElementsAre(kVersion1.hash));
  const std::optional<CaptureCode> code = known_.FindWhole(target_, kVersion1);
  ASSERT_TRUE(code.has_value());
  EXPECT_EQ(code->space, snapshot.space);
  EXPECT_FALSE(known_.FindWhole(target_, {.sequence = 99, .hash = kVersion1.hash}).has_value());
}

TEST_F(KnownCodeTest, ListsAreForgottenAllAtOnceAndSaidToBe) {
  const std::vector<CodeMapping> many(kMaxListedMappings, MappingAt(kCode));
  constexpr uint64_t kLists = (1 << 18) / kMaxListedMappings;  // of this length there is room for
  for (uint64_t hash = 1; hash <= kLists; ++hash) Learn({.hash = hash, .mappings = many});
  EXPECT_THAT(host_.forgotten, IsEmpty());
  Learn({.hash = kLists + 1, .mappings = many});
  EXPECT_THAT(host_.forgotten, SizeIs(kLists));
}

}  // namespace
}  // namespace offcpu
