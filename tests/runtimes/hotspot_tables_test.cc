// What a Java virtual machine says of itself, and what is refused of that.
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>

#include "runtimes/hotspot/code_cache.h"
#include "runtimes/hotspot/layout.h"
#include "runtimes/hotspot/vm_structs.h"
#include "runtimes/paged_memory.h"
#include "tests/runtimes/fake_vm.h"

namespace offcpu {
namespace {

class CountedReads final : public Memory {
 public:
  explicit CountedReads(const Memory& memory) : memory_(memory) {}
  bool Read(uint64_t address, std::span<std::byte> out) const override {
    ++count;
    return memory_.Read(address, out);
  }

  mutable int count = 0;

 private:
  const Memory& memory_;
};

class HotSpotTables : public ::testing::TestWithParam<int> {
 protected:
  absl::StatusOr<VmStructs> Structs() { return VmStructs::Read(vm_.memory(), vm_.symbols()); }
  absl::StatusOr<HotSpotLayout> Layout() {
    absl::StatusOr<VmStructs> structs = Structs();
    return structs.ok() ? HotSpotLayout::Of(*structs, vm_.memory()) : structs.status();
  }

  FakeVm vm_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Jdk, HotSpotTables, testing::Values(17, 25));

TEST_P(HotSpotTables, FieldsHaveTheWidthOfTheirType) {
  const absl::StatusOr<VmStructs> structs = Structs();
  ASSERT_TRUE(structs.ok()) << structs.status();
  const bool is_new = GetParam() == 25;
  EXPECT_EQ(
      structs->Field("CodeBlob::_frame_complete_offset"),
      (is_new ? VmField{.at = 54, .bytes = 2, .is_signed = true} : VmField{.at = 20, .bytes = 4, .is_signed = true}));
  EXPECT_EQ(structs->Field("ConstMethod::_name_index"), (VmField{.at = is_new ? 36u : 34u, .bytes = 2}));
  EXPECT_EQ(structs->Field("Klass::_name"), (VmField{.at = 24, .bytes = 8}));
  EXPECT_EQ(structs->Field("CodeHeap::_memory")->bytes, 0);  // a structure
  EXPECT_TRUE(structs->Field("CodeCache::_heaps")->is_static);
  EXPECT_EQ(structs->Field("Klass::_nam"), std::nullopt);
  EXPECT_EQ(structs->Size("PcDesc"), 16u);
  EXPECT_EQ(structs->Constant("InvocationEntryBci"), -1);
}

TEST_P(HotSpotTables, EachSymbolIsNeeded) {
  const auto all = vm_.symbols();
  for (const auto& [name, address] : all) {
    vm_.symbols() = all;
    vm_.symbols().erase(name);
    EXPECT_FALSE(Structs().ok()) << name;
  }
}

TEST_P(HotSpotTables, TableWithoutEndIsRefused) {
  // Entries that do not go on are the same one for ever.
  const uint64_t stride = vm_.symbols().find("StructEntryArrayStride")->second;
  vm_.Put(stride, uint64_t{0});
  EXPECT_FALSE(Structs().ok());
  vm_.Put(stride, kMaxVmEntryStride + 1);
  EXPECT_FALSE(Structs().ok());
  // A table whose entries all are where they are read from.
  FakeVm other(GetParam());
  const uint64_t field = other.symbols().find("TypeEntryTypeNameOffset")->second;
  other.Put(field, kMaxVmEntryStride);
  EXPECT_FALSE(VmStructs::Read(other.memory(), other.symbols()).ok());
}

TEST_P(HotSpotTables, LongestNameIsRead) {
  vm_.Rename("Klass::_name", std::string(kMaxVmNameBytes - 1, 'n'));
  EXPECT_TRUE(Structs().ok());
  vm_.Rename("Klass::_name", std::string(kMaxVmNameBytes, 'n'));
  EXPECT_FALSE(Structs().ok());
}

TEST_P(HotSpotTables, MissingFieldIsNamed) {
  vm_.Rename("ConstantPool::_pool_holder", "_owner");
  const absl::StatusOr<HotSpotLayout> layout = Layout();
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.status().message(), "this build does not describe ConstantPool::_pool_holder");
}

TEST_P(HotSpotTables, SourceFilesMayBeMissing) {
  vm_.Rename("ConstantPool::_source_file_name_index", "_elsewhere");
  EXPECT_TRUE(Layout().ok());
}

TEST_P(HotSpotTables, OtherFramesAreRefused) {
  vm_.SetConstant("frame::interpreter_frame_sender_sp_offset", -2);
  EXPECT_FALSE(Layout().ok());
}

TEST(HotSpotVersions, OldestOneIsEleven) {
  FakeVm oldest(11), older(10);
  const auto layout = [](FakeVm& vm) {
    return HotSpotLayout::Of(*VmStructs::Read(vm.memory(), vm.symbols()), vm.memory());
  };
  EXPECT_TRUE(layout(oldest).ok());
  EXPECT_FALSE(layout(older).ok());
}

class HotSpotCodeCache : public HotSpotTables {
 protected:
  CodeCache Cache() {
    layout_ = *Layout();
    return CodeCache::Read(layout_, vm_.memory());
  }

  HotSpotLayout layout_;
};
INSTANTIATE_TEST_SUITE_P(Jdk, HotSpotCodeCache, testing::Values(17, 25));

TEST_P(HotSpotCodeCache, EveryAddressOfABlobsCodeFindsIt) {
  const uint64_t code = vm_.AddBlob({.frame_words = 6, .code_bytes = 512, .compile_id = 42, .method = 0x12340});
  const CodeCache cache = Cache();
  for (const uint64_t address : {code, code + 1, code + 255, code + 511}) {
    const std::optional<Blob> blob = cache.Find(address);
    ASSERT_TRUE(blob.has_value()) << address - code;
    EXPECT_EQ(blob->begin, code);
    EXPECT_EQ(blob->end, code + 512);
    EXPECT_EQ(blob->kind, BlobKind::kCompiled);
    EXPECT_EQ(blob->frame_words, 6);
    EXPECT_EQ(blob->frame_complete, 16);
    EXPECT_EQ(blob->compile_id, 42);
    EXPECT_EQ(blob->method, 0x12340u);
    EXPECT_EQ(blob->deopt, code + 0x80);
    EXPECT_EQ(blob->deopt_mh, code + 0x90);
    EXPECT_EQ(blob->orig_pc, 8);
  }
  EXPECT_EQ(cache.Find(code - 1), std::nullopt);  // its header
  EXPECT_EQ(cache.Find(code + 512), std::nullopt);
  EXPECT_EQ(cache.Find(FakeVm::kCodeLow - 1), std::nullopt);
  EXPECT_EQ(cache.Find(FakeVm::kCodeHigh), std::nullopt);
}

// What stands at the beginning of its block, and its number; of other blobs where their name is.
TEST_P(HotSpotCodeCache, BlobIsToldFromOthersByItsBlockAndItsNumber) {
  const uint64_t header = GetParam() >= 20 ? 8 : 16;
  const uint64_t compile_id_at = GetParam() >= 20 ? 212 : 304;
  const uint64_t segment = vm_.next_segment();
  const uint64_t block = FakeVm::kCodeLow + segment * FakeVm::kSegmentBytes;
  const CodeStamp stamp = Cache().Find(vm_.AddBlobAt(segment, {.compile_id = 42}))->stamp;
  EXPECT_EQ(stamp.address, block);
  EXPECT_EQ(stamp.offset, header + compile_id_at);
  EXPECT_EQ(stamp.words[0], vm_.memory().ReadValue<uint64_t>(block));
  EXPECT_EQ(stamp.words[1], vm_.memory().ReadValue<uint64_t>(block + 8));
  EXPECT_EQ(stamp.behind, 42u);
  const uint64_t stubs = vm_.AddBlob({.name = "StubRoutines (2)", .frame_words = 0});
  EXPECT_EQ(Cache().Find(stubs)->stamp.offset, header + (GetParam() >= 20 ? 8 : 96));
}

// The segment map goes back by 253 segments at most: 32 KiB.
TEST_P(HotSpotCodeCache, LargeBlobIsFoundFromItsEnd) {
  const uint64_t code = vm_.AddBlob({.name = "Interpreter", .frame_words = 0, .code_bytes = 100'000});
  const std::optional<Blob> blob = Cache().Find(code + 99'999);
  ASSERT_TRUE(blob.has_value());
  EXPECT_EQ(blob->begin, code);
  EXPECT_EQ(blob->kind, BlobKind::kInterpreter);
}

TEST_P(HotSpotCodeCache, FreeBlobIsNone) {
  const uint64_t segment = vm_.next_segment();
  const uint64_t code = vm_.AddBlob({});
  EXPECT_TRUE(Cache().Find(code).has_value());
  vm_.FreeSegments(segment);
  EXPECT_EQ(Cache().Find(code), std::nullopt);
}

TEST_P(HotSpotCodeCache, NamesSayWhatBlobsAre) {
  const std::pair<std::string_view, BlobKind> kinds[] = {{"nmethod", BlobKind::kCompiled},
                                                         {"native nmethod", BlobKind::kNative},
                                                         {"Interpreter", BlobKind::kInterpreter},
                                                         {"StubRoutines (2)", BlobKind::kStubs},
                                                         {"StubRoutines (final stubs)", BlobKind::kStubs},
                                                         {"StubRoutines (continuation stubs)",  // of JDK 21
                                                          BlobKind::kContinuation},
                                                         {"StubRoutines (continuationstubs)",  // of JDK 25
                                                          BlobKind::kContinuation},
                                                         {"RuntimeStub - resolve_static_call", BlobKind::kOther}};
  for (const auto& [name, kind] : kinds) {
    const uint64_t code = vm_.AddBlob({.name = name});
    EXPECT_EQ(Cache().Find(code)->kind, kind) << name;
  }
}

TEST_P(HotSpotCodeCache, AllBlobsAreMet) {
  const uint64_t first = vm_.AddBlob({}), segment = vm_.next_segment();
  vm_.AddBlob({});
  vm_.FreeSegments(segment);
  const uint64_t last = vm_.AddBlob({.code_bytes = 1000});
  std::vector<uint64_t> met;
  Cache().ForEach(vm_.memory(), [&met](const Blob& blob) { met.push_back(blob.begin); });
  ASSERT_EQ(met.size(), 3u);  // with the stubs
  EXPECT_EQ(met[1], first);
  EXPECT_EQ(met[2], last);
}

// A virtual machine may say that the code of a blob is all of its memory.
TEST_P(HotSpotCodeCache, CodeBeyondItsHeapIsRefused) {
  const uint64_t segment = vm_.next_segment();
  const uint64_t code = vm_.AddBlob({});
  vm_.SetCodeEnd(segment, FakeVm::kCodeHigh);
  EXPECT_TRUE(Cache().Find(code).has_value());
  vm_.SetCodeEnd(segment, FakeVm::kCodeHigh + 1);
  EXPECT_EQ(Cache().Find(code), std::nullopt);
}

// Each is read at once: a read of a process costs as much as its bytes.
TEST_P(HotSpotCodeCache, EachBlobIsOneReadOfAll) {
  for (int i = 0; i < 100; ++i) vm_.AddBlob({});
  const CodeCache cache = Cache();
  const CountedReads blocks(vm_.memory());
  size_t met = 0;
  cache.ForEach(blocks, [&met](const Blob&) { ++met; });
  EXPECT_EQ(met, 101u);          // with the stubs
  EXPECT_EQ(blocks.count, 102);  // and that there are no more
}

// Segments that lead back by one each, as far as they go.
TEST_P(HotSpotCodeCache, SegmentsLeadBackSoOften) {
  const uint64_t segment = vm_.next_segment();
  const uint64_t code = vm_.AddBlob({.name = "Interpreter", .code_bytes = 0x1f000});
  vm_.SetSegments(segment + 1, vm_.next_segment() - segment - 1, 1);
  EXPECT_TRUE(Cache().Find(code + 0x1e000).has_value());
  // As many words of a stack as there are lead there: one reading ends somewhere.
  const PagedMemory paged(vm_.memory(), {.reads = 10'000});
  const CodeCache cache = CodeCache::Read(layout_, paged);
  for (uint64_t word = code; word < code + 0x1e000; ++word) (void)cache.Find(word);
  EXPECT_TRUE(paged.is_spent());
}

TEST_P(HotSpotCodeCache, ImpossibleFrameIsRefused) {
  const uint64_t largest = vm_.AddBlob({.frame_words = kMaxBlobFrameWords});
  const uint64_t larger = vm_.AddBlob({.frame_words = kMaxBlobFrameWords + 1});
  const CodeCache cache = Cache();
  EXPECT_TRUE(cache.Find(largest).has_value());
  EXPECT_EQ(cache.Find(larger), std::nullopt);
}

}  // namespace
}  // namespace offcpu
