// Functions that walks have met, and what one call reads of their names.
#include "runtimes/hotspot/java_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/hotspot/layout.h"
#include "runtimes/hotspot/vm_structs.h"
#include "tests/runtimes/fake_vm.h"

namespace offcpu {
namespace {

using testing::ElementsAre;

std::optional<uint64_t> NoUnloads() { return 0; }

TEST(JavaFunctions, BeyondTheLimitAllAreOne) {
  JavaFunctions functions;
  uint64_t last = 0;
  for (uint64_t i = 2; i < kMaxJavaFunctions; ++i) last = functions.Interpreted(i, 0, 0);
  EXPECT_EQ(last, kMaxJavaFunctions - 1);
  EXPECT_EQ(functions.Interpreted(kMaxJavaFunctions, 0, 0), JavaFunctions::kNoRoom);
  EXPECT_EQ(functions.Interpreted(2, 0, 0), 2u);
  EXPECT_EQ(functions.LinesAt(JavaFunctions::kNoRoom), (std::vector<CodeLine>{{.function = std::string(kJavaNoRoom)}}));
}

TEST(JavaFunctions, AnotherStubAtTheSamePlaceIsAnotherFunction) {
  JavaFunctions functions;
  const uint64_t first = functions.Stub({.at = 0x1000, .name = "upcall_stub_a"}, false);
  const uint64_t second = functions.Stub({.at = 0x1000, .name = "upcall_stub_b"}, false);
  EXPECT_NE(first, second);
  EXPECT_EQ(functions.LinesAt(first).front().function, "upcall_stub_a");
  EXPECT_EQ(functions.LinesAt(second).front().function, "upcall_stub_b");
  EXPECT_EQ(functions.Stub({.at = 0x1000, .name = "upcall_stub_b"}, false), second);
  EXPECT_FALSE(functions.HasUnread());
}

class JavaFunctionsOf : public ::testing::TestWithParam<int> {
 protected:
  // As UNSIGNED5 is packed: digits of 6 bits above the values that end a number, none of which is 0 since JDK 20.
  void Put(uint32_t value) {
    const uint32_t excluded = GetParam() >= 20 ? 1 : 0;
    for (; value >= 192 - excluded; value = (value - (192 - excluded)) / 64) {
      scopes_.push_back(static_cast<uint8_t>(192 + (value - (192 - excluded)) % 64));
    }
    scopes_.push_back(static_cast<uint8_t>(value + excluded));
  }

  Blob BlobAt(uint64_t code) { return *CodeCache::Read(layout_, vm_.memory()).Find(code); }
  std::string NameOf(const JavaFunctions& functions, uint64_t number) {
    const std::vector<CodeLine> lines = functions.LinesAt(number);
    return lines.empty() ? "" : lines.front().function;
  }

  FakeVm vm_{GetParam()};
  const HotSpotLayout layout_ = *HotSpotLayout::Of(*VmStructs::Read(vm_.memory(), vm_.symbols()), vm_.memory());
  std::vector<uint8_t> scopes_ = {0};
};
INSTANTIATE_TEST_SUITE_P(Jdk, JavaFunctionsOf, testing::Values(17, 25));

TEST_P(JavaFunctionsOf, OneCallReadsSoManyNames) {
  const uint64_t method = vm_.AddMethod({.code_bytes = kMaxJavaFunctionsAtOnce + 1});
  JavaFunctions functions;
  uint64_t last = 0;
  for (uint64_t i = 0; i <= kMaxJavaFunctionsAtOnce; ++i)
    last = functions.Interpreted(method, vm_.BytecodeOf(method) + i, 0);
  functions.Read(layout_, vm_.memory(), NoUnloads);
  EXPECT_TRUE(functions.HasUnread());
  EXPECT_EQ(NameOf(functions, last - 1), "com.shop.Inventory.reserve");
  EXPECT_EQ(NameOf(functions, last), "");
  functions.Read(layout_, vm_.memory(), NoUnloads);
  EXPECT_FALSE(functions.HasUnread());
  EXPECT_EQ(NameOf(functions, last), "com.shop.Inventory.reserve");
}

class JavaFunctionsAfter : public JavaFunctionsOf {
 protected:
  void Read(JavaFunctions& functions) {
    functions.Read(layout_, vm_.memory(), [this] { return std::optional(version_); });
  }
  std::string Inventory() const { return "com.shop.Inventory.reserve"; }

  uint64_t version_ = 5;
};
INSTANTIATE_TEST_SUITE_P(Jdk, JavaFunctionsAfter, testing::Values(17, 25));

TEST_P(JavaFunctionsAfter, AnUnloadWhatIsInterpretedHasNoNewName) {
  const uint64_t method = vm_.AddMethod({});
  JavaFunctions functions;
  const uint64_t before = functions.Interpreted(method, vm_.BytecodeOf(method), 4);
  Read(functions);
  EXPECT_EQ(NameOf(functions, before), kJavaUnloaded);
  const uint64_t after = functions.Interpreted(method, vm_.BytecodeOf(method), 5);
  EXPECT_NE(after, before);
  Read(functions);
  EXPECT_EQ(NameOf(functions, after), Inventory());
  EXPECT_EQ(NameOf(functions, before), kJavaUnloaded);
}

// Met twice before it was read: what it was the first time is gone.
TEST_P(JavaFunctionsAfter, AnUnloadTheSamePlaceHasAnotherFunction) {
  const uint64_t method = vm_.AddMethod({});
  JavaFunctions functions;
  const uint64_t before = functions.Interpreted(method, vm_.BytecodeOf(method), 4);
  const uint64_t after = functions.Interpreted(method, vm_.BytecodeOf(method), 5);
  EXPECT_NE(after, before);
  Read(functions);
  EXPECT_EQ(NameOf(functions, before), kJavaUnloaded);
  EXPECT_EQ(NameOf(functions, after), Inventory());
}

// All that says which method is there is at the same places again, with the same name or another one.
TEST_P(JavaFunctionsAfter, AnUnloadTheSamePlaceIsNotTakenForTheSameFunction) {
  const uint64_t method = vm_.AddMethod({});
  JavaFunctions functions;
  const uint64_t first = functions.Interpreted(method, vm_.BytecodeOf(method), 5);
  Read(functions);
  vm_.RenameClass(method, "com/shop/Treasurer");
  version_ = 6;
  const uint64_t second = functions.Interpreted(method, vm_.BytecodeOf(method), 6);
  Read(functions);
  const uint64_t third = functions.Interpreted(method, vm_.BytecodeOf(method), 7);
  vm_.RenameClass(method, "com/shop/Inventory");
  version_ = 8;
  Read(functions);
  EXPECT_EQ(functions.Interpreted(method, vm_.BytecodeOf(method), 5), first);
  EXPECT_EQ(functions.Interpreted(method, vm_.BytecodeOf(method), std::nullopt), JavaFunctions::kUnloaded);
  EXPECT_EQ(NameOf(functions, first), Inventory());
  EXPECT_EQ(NameOf(functions, second), "com.shop.Treasurer.reserve");
  EXPECT_EQ(NameOf(functions, third), kJavaUnloaded) << "the class that was there may have been another one";
}

TEST_P(JavaFunctionsAfter, AnUnloadAtAnUnknownMomentNothingNewHasAName) {
  const uint64_t method = vm_.AddMethod({});
  JavaFunctions functions;
  EXPECT_EQ(functions.Interpreted(method, vm_.BytecodeOf(method), std::nullopt), JavaFunctions::kUnloaded);
  EXPECT_EQ(NameOf(functions, JavaFunctions::kUnloaded), kJavaUnloaded);
  EXPECT_FALSE(functions.HasUnread());
}

// A stack of an unknown moment takes no name away from one of a known moment.
TEST_P(JavaFunctionsAfter, AnUnloadAtAnUnknownMomentWhatIsToBeReadIsReadStill) {
  const uint64_t method = vm_.AddMethod({});
  JavaFunctions functions;
  const uint64_t number = functions.Interpreted(method, vm_.BytecodeOf(method), 5);
  EXPECT_EQ(functions.Interpreted(method, vm_.BytecodeOf(method), std::nullopt), JavaFunctions::kUnloaded);
  Read(functions);
  EXPECT_EQ(NameOf(functions, number), Inventory());
}

// What a name takes is given back when another one takes its place.
TEST_P(JavaFunctionsAfter, AnUnloadNamesTakeNoMoreRoomThanTheyAreLong) {
  const uint64_t method = vm_.AddMethod({});
  uint32_t scope = static_cast<uint32_t>(scopes_.size());
  for (const uint32_t value : {0u, 1u, 1u}) Put(value);
  const Blob blob = BlobAt(vm_.AddBlob(
      {.method = method, .pcs = {{0x20, static_cast<int32_t>(scope)}}, .scopes = scopes_, .metadata = {method}}));
  JavaFunctions once, twice;
  once.Compiled(blob, blob.begin + 0x20, 5);
  twice.Compiled(blob, blob.begin + 0x20, std::nullopt);
  twice.Compiled(blob, blob.begin + 0x20, 5);
  Read(once);
  Read(twice);
  EXPECT_EQ(once.memory.bytes(), twice.memory.bytes());
}

TEST_P(JavaFunctionsAfter, AnUnloadWhileNamesAreReadNoneIsKept) {
  const uint64_t method = vm_.AddMethod({});
  JavaFunctions functions;
  const uint64_t number = functions.Interpreted(method, vm_.BytecodeOf(method), 5);
  functions.Read(layout_, vm_.memory(), [this] { return std::optional(version_++); });
  EXPECT_EQ(NameOf(functions, number), kJavaUnloaded);
}

// Its classes are there as long as it is.
TEST_P(JavaFunctionsAfter, AnUnloadWhatIsCompiledHasItsNameOnceItIsMetAgain) {
  const uint64_t method = vm_.AddMethod({});
  uint32_t scope = static_cast<uint32_t>(scopes_.size());
  for (const uint32_t value : {0u, 1u, 1u}) Put(value);
  const Blob blob = BlobAt(vm_.AddBlob(
      {.method = method, .pcs = {{0x20, static_cast<int32_t>(scope)}}, .scopes = scopes_, .metadata = {method}}));
  JavaFunctions functions;
  const uint64_t number = functions.Compiled(blob, blob.begin + 0x20, 4);
  Read(functions);
  EXPECT_EQ(NameOf(functions, number), kJavaUnloaded);
  EXPECT_EQ(functions.Compiled(blob, blob.begin + 0x20, 5), number);
  Read(functions);
  EXPECT_EQ(NameOf(functions, number), Inventory());
}

// A memory that changes just before a page of it is read for the first time.
class ChangingMemory : public Memory {
 public:
  ChangingMemory(const Memory& memory, uint64_t at, std::function<void()> change)
      : memory_(memory), at_(at), change_(std::move(change)) {}

  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override {
    if (at_ >= address && at_ - address < out.size() && change_ != nullptr) std::exchange(change_, nullptr)();
    return memory_.Read(address, out);
  }

 private:
  const Memory& memory_;
  const uint64_t at_;
  mutable std::function<void()> change_;
};

// The blob's header was read before, and what it refers to is another's by then. No class was unloaded.
TEST_P(JavaFunctionsAfter, TheEndOfABlobWhatItReferredToIsNotItsName) {
  const uint64_t outer = vm_.AddMethod({.name = "outer"}), inner = vm_.AddMethod({}), other = vm_.AddMethod({});
  Put(0), Put(2), Put(1);
  Put(1), Put(1), Put(1);
  vm_.Take(2 * 4096);
  const uint64_t segment = vm_.next_segment();
  const uint64_t code =
      vm_.AddBlob({.method = outer, .pcs = {{0x20, 4}}, .scopes = scopes_, .metadata = {inner, outer}});
  const Blob blob = BlobAt(code);
  vm_.Take(4096);
  JavaFunctions functions;
  const uint64_t number = functions.Compiled(blob, code + 0x20, 5);
  const ChangingMemory memory(vm_.memory(), blob.metadata, [&] {
    vm_.Put(blob.metadata, other);
    vm_.FreeSegments(segment);
  });
  functions.Read(layout_, memory, [this] { return std::optional(version_); });
  EXPECT_EQ(NameOf(functions, number), kJavaUnloaded);
}

// Functions that are inlined into each other, each with a long table of lines, take more than one call may read.
TEST_P(JavaFunctionsOf, OneThatTakesAllReadsLeavesOthersToTheNextCall) {
  const uint64_t method = vm_.AddMethod({});
  const uint64_t endless = vm_.AddMethod({.lines = std::vector<uint8_t>(kMaxLineEntries + 1, 1)});
  uint32_t scope = 0;
  for (int i = 0; i < 20; ++i) {
    const uint32_t sender = std::exchange(scope, static_cast<uint32_t>(scopes_.size()));
    for (const uint32_t value : {sender, 1u, 1u}) Put(value);
  }
  const uint64_t code = vm_.AddBlob(
      {.method = endless, .pcs = {{0x20, static_cast<int32_t>(scope)}}, .scopes = scopes_, .metadata = {endless}});
  JavaFunctions functions;
  const uint64_t before = functions.Interpreted(method, vm_.BytecodeOf(method), 0);
  const uint64_t largest = functions.Compiled(BlobAt(code), code + 0x20, 0);
  const uint64_t behind = functions.Interpreted(method, vm_.BytecodeOf(method) + 1, 0);
  functions.Read(layout_, vm_.memory(), NoUnloads);
  EXPECT_EQ(NameOf(functions, before), "com.shop.Inventory.reserve");
  EXPECT_EQ(NameOf(functions, largest), "");
  EXPECT_EQ(NameOf(functions, behind), "");
  functions.Read(layout_, vm_.memory(), NoUnloads);
  EXPECT_EQ(NameOf(functions, largest), kJavaUnloaded) << "it is the first one, and there is still no end of it";
  EXPECT_TRUE(functions.HasUnread());
  functions.Read(layout_, vm_.memory(), NoUnloads);
  EXPECT_EQ(NameOf(functions, behind), "com.shop.Inventory.reserve");
  EXPECT_FALSE(functions.HasUnread());
}

}  // namespace
}  // namespace offcpu
