// Names and lines of Java methods, as a virtual machine keeps them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/hotspot/code_cache.h"
#include "runtimes/hotspot/layout.h"
#include "runtimes/hotspot/methods.h"
#include "runtimes/hotspot/vm_structs.h"
#include "tests/runtimes/fake_vm.h"

namespace offcpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HotSpotMethods : public ::testing::TestWithParam<int> {
 protected:
  // Bytes that UNSIGNED5 has for small values: since JDK 20 it leaves out 0.
  uint8_t U5(uint8_t value) const { return static_cast<uint8_t>(value + (GetParam() >= 20 ? 1 : 0)); }

  Methods Named() {
    layout_ = *HotSpotLayout::Of(*VmStructs::Read(vm_.memory(), vm_.symbols()), vm_.memory());
    return Methods(layout_, vm_.memory());
  }
  Blob BlobAt(uint64_t code) {
    Named();
    return *CodeCache::Read(layout_, vm_.memory()).Find(code);
  }

  FakeVm vm_{GetParam()};
  HotSpotLayout layout_;
};
INSTANTIATE_TEST_SUITE_P(Jdk, HotSpotMethods, testing::Values(17, 25));

TEST_P(HotSpotMethods, InterpretedOneHasTheLineOfItsByteCode) {
  // Two lines: 87 from byte code 0 on, 88 from 5 on.
  const uint64_t method = vm_.AddMethod({.lines = {0xff, U5(0), U5(174), 5 << 3 | 1, 0}});
  const uint64_t code = vm_.BytecodeOf(method);
  const Methods methods = Named();
  EXPECT_EQ(methods.Interpreted(method, code),
            (CodeLine{.function = "com.shop.Inventory.reserve", .file = "Inventory.java", .line = 87}));
  EXPECT_EQ(methods.Interpreted(method, code + 4)->line, 87u);
  EXPECT_EQ(methods.Interpreted(method, code + 5)->line, 88u);
  EXPECT_EQ(methods.Interpreted(method, code + 39)->line, 88u);
  EXPECT_EQ(methods.Interpreted(method, code + 40), std::nullopt);  // behind its last one
  EXPECT_EQ(methods.Interpreted(method, code - 1), std::nullopt);
}

TEST_P(HotSpotMethods, NativeOneHasNoLine) {
  const uint64_t method = vm_.AddMethod({.name = "park", .lines = {1 << 3 | 1, 0}, .access = 0x101});
  EXPECT_EQ(Named().Interpreted(method, 0),
            (CodeLine{.function = "com.shop.Inventory.park", .file = "Inventory.java"}));
}

TEST_P(HotSpotMethods, HiddenClassIsWrittenAsItsOwnToolsDo) {
  const uint64_t method = vm_.AddMethod({.class_name = "a/Waits$$Lambda+0x00007f00", .name = "run"});
  EXPECT_EQ(Named().Interpreted(method, vm_.BytecodeOf(method))->function, "a.Waits$$Lambda/0x00007f00.run");
}

TEST_P(HotSpotMethods, WhatIsNoMethodHasNoName) {
  const Methods methods = Named();
  EXPECT_EQ(methods.Interpreted(0, 0), std::nullopt);
  EXPECT_EQ(methods.Interpreted(FakeVm::kBase + 1, 0), std::nullopt);
  EXPECT_EQ(methods.Interpreted(FakeVm::kBase + FakeVm::kBytes, 0), std::nullopt);
  const uint64_t nothing = vm_.Take(88);  // all 0
  EXPECT_EQ(methods.Interpreted(nothing, 0), std::nullopt);
}

// A class names the pool that it owns. One that names another pool has taken the place of what was there before.
TEST_P(HotSpotMethods, HolderThatIsNoClassNamesNothing) {
  const uint64_t method = vm_.AddMethod({}), other = vm_.AddMethod({});
  const Methods methods = Named();
  vm_.Put(vm_.HolderOf(method) + (vm_.is_new() ? 224 : 232), vm_.ConstantsOf(other));
  EXPECT_EQ(methods.Interpreted(method, vm_.BytecodeOf(method)), std::nullopt);
}

TEST_P(HotSpotMethods, MethodOfAClassThatIsNotLinkedYetHasNoName) {
  const uint64_t method = vm_.AddMethod({});
  vm_.SetLinked(method, false);
  EXPECT_EQ(Named().Interpreted(method, vm_.BytecodeOf(method)), std::nullopt);
  vm_.SetLinked(method, true);
  EXPECT_NE(Named().Interpreted(method, vm_.BytecodeOf(method)), std::nullopt);
}

// Its methods that HotSpot makes itself have a pool each.
TEST_P(HotSpotMethods, MethodOfAnotherPoolOfItsClassIsNamed) {
  const uint64_t method = vm_.AddMethod({}), other = vm_.AddMethod({.name = "invokeBasic"});
  const Methods methods = Named();
  vm_.Put(vm_.ConstantsOf(other) + 24, vm_.HolderOf(method));
  EXPECT_EQ(methods.Interpreted(other, vm_.BytecodeOf(other))->function, "com.shop.Inventory.invokeBasic");
}

// At 0x20 `inner` is inlined into `outer`, at its byte code 7; at 0x40 there is `outer` alone.
TEST_P(HotSpotMethods, InlinedOnesComeFirst) {
  const uint64_t outer = vm_.AddMethod({.name = "outer", .lines = {7 << 3 | 7, 0}});  // line 7 from byte code 7 on
  const uint64_t inner = vm_.AddMethod({.name = "inner", .lines = {0 << 3 | 3, 0}});  // line 3
  const uint64_t code = vm_.AddBlob({.method = outer,
                                     .pcs = {{0x20, 4}, {0x40, 1}},
                                     .scopes = {0,                         // no scope begins there
                                                U5(0), U5(1), U5(7 + 1),   // nobody's: the first method, byte code 7
                                                U5(1), U5(2), U5(2 + 1)},  // of the one at 1: the second one, at 2
                                     .metadata = {outer, inner}});
  const Methods methods = Named();
  const Blob blob = BlobAt(code);
  const CodeLine outer_line = {.function = "com.shop.Inventory.outer", .file = "Inventory.java", .line = 7};
  const CodeLine inner_line = {.function = "com.shop.Inventory.inner", .file = "Inventory.java", .line = 3};
  EXPECT_THAT(methods.Compiled(blob, code + 0x20), ElementsAre(inner_line, outer_line));
  EXPECT_THAT(methods.Compiled(blob, code + 0x40), ElementsAre(outer_line));
}

// The next scope may be that of another inlined function. A function of the virtual machine that needs no safepoint is
// called without one.
TEST_P(HotSpotMethods, WhereThereIsNoScopeOnlyTheCompiledMethodIsNamed) {
  const uint64_t outer = vm_.AddMethod({.name = "outer", .lines = {0 << 3 | 7, 0}});
  const uint64_t inner = vm_.AddMethod({.name = "inner", .lines = {0 << 3 | 3, 0}});
  const uint64_t code = vm_.AddBlob({.method = outer,
                                     .pcs = {{-1, 0}, {0x20, 4}, {0x40, 0}},  // the last one has no scope
                                     .scopes = {0, U5(0), U5(1), U5(1), U5(1), U5(2), U5(1)},
                                     .metadata = {outer, inner}});
  const Methods methods = Named();
  const Blob blob = BlobAt(code);
  const auto is_outer = ElementsAre(CodeLine{.function = "[java: inlined functions not known]"},
                                    CodeLine{.function = "com.shop.Inventory.outer", .file = "Inventory.java"});
  constexpr uint64_t kInterrupted = 0;
  for (const uint64_t place : {code + 0x1f, code + 0x21, code + 0x40, code + 0x41, kInterrupted})
    EXPECT_THAT(methods.Compiled(blob, place), is_outer) << place - code;
}

// 191 is the first number of two bytes, since JDK 20; before, it was 192.
TEST_P(HotSpotMethods, ScopesAreFoundWhereverTheyBegin) {
  const uint64_t first = vm_.AddMethod({.name = "first"}), second = vm_.AddMethod({.name = "second"});
  const bool is_new = GetParam() >= 20;
  const std::vector<uint8_t> of_191 = is_new ? std::vector<uint8_t>{0xc0, 0x01} : std::vector<uint8_t>{0xbf};
  const std::vector<uint8_t> of_192 = is_new ? std::vector<uint8_t>{0xc1, 0x01} : std::vector<uint8_t>{0xc0, 0x00};
  const std::vector<uint8_t> of_255 = is_new ? std::vector<uint8_t>{0xc0, 0x02} : std::vector<uint8_t>{0xff, 0x00};
  for (const auto& [at, number] : {std::pair(191, of_191), std::pair(192, of_192), std::pair(255, of_255)}) {
    std::vector<uint8_t> scopes(static_cast<size_t>(at));
    for (const uint8_t byte : {U5(0), U5(1), U5(1)}) scopes.push_back(byte);
    const auto inner = static_cast<int32_t>(scopes.size());
    scopes.insert(scopes.end(), number.begin(), number.end());
    for (const uint8_t byte : {U5(2), U5(1)}) scopes.push_back(byte);
    const uint64_t code =
        vm_.AddBlob({.method = first, .pcs = {{0x20, inner}}, .scopes = scopes, .metadata = {first, second}});
    const Methods methods = Named();
    const std::vector<CodeLine> lines = methods.Compiled(BlobAt(code), code + 0x20);
    ASSERT_EQ(lines.size(), 2u) << at;
    EXPECT_EQ(lines[0].function, "com.shop.Inventory.second") << at;
    EXPECT_EQ(lines[1].function, "com.shop.Inventory.first") << at;
  }
}

TEST_P(HotSpotMethods, ScopesThatGoInCirclesHaveNoName) {
  const uint64_t method = vm_.AddMethod({});
  const uint64_t code = vm_.AddBlob({.method = method,
                                     .pcs = {{0x20, 1}},
                                     .scopes = {0, U5(1), U5(1), U5(1)},  // it is inlined into itself
                                     .metadata = {method}});
  const Methods methods = Named();
  EXPECT_THAT(methods.Compiled(BlobAt(code), code + 0x20), IsEmpty());
}

// There is no memory for what a blob says of itself.
TEST_P(HotSpotMethods, TablesOfSoManyBytesAreRead) {
  class LargestRead final : public Memory {
   public:
    bool Read(uint64_t, std::span<std::byte> out) const override {
      bytes = std::max(bytes, out.size());
      return false;
    }
    mutable size_t bytes = 0;
  };
  Named();
  const LargestRead memory;
  const Methods methods(layout_, memory);
  Blob blob = {.begin = 0x1000, .end = 0x2000, .kind = BlobKind::kCompiled, .pcs = 0x8000};
  blob.pcs_end = blob.pcs + kMaxPcDescBytes + 16;
  EXPECT_THAT(methods.Compiled(blob, 0x1020), IsEmpty());
  EXPECT_EQ(memory.bytes, 0u);
  blob.pcs_end = blob.pcs + kMaxPcDescBytes;
  EXPECT_THAT(methods.Compiled(blob, 0x1020), IsEmpty());
  EXPECT_EQ(memory.bytes, kMaxPcDescBytes);
}

TEST_P(HotSpotMethods, WrapperOfANativeOneIsNamedByIt) {
  const uint64_t method = vm_.AddMethod({.name = "park", .access = 0x101});
  const uint64_t code = vm_.AddBlob({.name = "native nmethod", .method = method});
  const Methods methods = Named();
  EXPECT_THAT(methods.Compiled(BlobAt(code), code + 0x33),
              ElementsAre(CodeLine{.function = "com.shop.Inventory.park", .file = "Inventory.java"}));
}

}  // namespace
}  // namespace offcpu
