// A Java virtual machine whose memory says anything: its tables, its code cache, its methods. Input: a byte for its
// version, then changes of its memory. A change is two bytes for where, one for how many bytes (the highest bit: behind
// the first reading, as a virtual machine goes on while it is read), and these. The machine is opened, read, walked
// through, read again, and the functions of the walk are named.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "process/address_space.h"
#include "process/memory_budget.h"
#include "runtimes/hotspot/hotspot.h"
#include "runtimes/hotspot/methods.h"
#include "tests/runtimes/fake_vm.h"
#include "unwind/walk.h"

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0x7ffd00001000;
constexpr size_t kStackWords = 64;
constexpr uint64_t kFirstReadingNs = 1000;
uint64_t now_ns;

class CountedMemory final : public Memory {
 public:
  explicit CountedMemory(const Memory& memory) : memory_(memory) {}
  bool Read(uint64_t address, std::span<std::byte> out) const override {
    ++reads_;
    return memory_.Read(address, out);
  }
  size_t Take() { return std::exchange(reads_, 0); }

 private:
  const Memory& memory_;
  mutable size_t reads_ = 0;
};

void Require(bool holds) {
  if (!holds) std::abort();
}

// Java that is compiled, called by Java that is interpreted, called by C++.
class Java {
 public:
  explicit Java(int version) : vm(version) {
    const uint64_t method = vm.AddMethod({.lines = {0 << 3 | 5, 0xff, 9, 9, 2 << 3 | 1, 0}});
    const uint64_t caller = vm.AddMethod({.name = "serve", .lines = {0 << 3 | 6, 0}});
    const uint64_t interpreter = vm.AddBlob({.name = "Interpreter", .frame_words = 0, .code_bytes = 4096});
    const uint8_t add = version >= 20 ? 1 : 0;
    const auto u5 = [add](uint8_t value) { return static_cast<uint8_t>(value + add); };
    const uint64_t compiled = vm.AddBlob({.compile_id = 7,
                                          .method = method,
                                          .pcs = {{0x20, 4}, {0x40, 1}},
                                          .scopes = {0, u5(0), u5(1), u5(1), u5(1), u5(2), u5(3)},
                                          .metadata = {method, caller}});
    stack[0] = compiled + 0x20;
    stack[2] = At(20);
    stack[3] = interpreter + 0x100;
    stack[20 - 8] = vm.BytecodeOf(caller) + 3;
    stack[20 - 3] = caller;
    stack[20 - 1] = At(25);
    stack[20] = At(40);
    stack[21] = FakeVm::kCallStubReturn;
  }

  static uint64_t At(size_t index) { return kStack + index * sizeof(uint64_t); }

  // Changes bytes of what is in use of its memory.
  void Change(std::span<const uint8_t> changes, bool later) {
    while (changes.size() > 3) {
      const uint64_t where = changes[0] | uint64_t{changes[1]} << 8;
      const uint64_t at = (where & 0x8000 ? FakeVm::kCodeLow : FakeVm::kBase) + (where & 0x7fff);
      const size_t count = std::min<size_t>((changes[2] & 7) + 1, changes.size() - 3);
      if (((changes[2] & 0x80) != 0) == later)
        for (size_t i = 0; i < count; ++i) vm.Put(at + i, changes[3 + i]);
      changes = changes.subspan(3 + count);
    }
  }

  UserStack Walk(HotSpot& hotspot, uint64_t captured_ns) const {
    MappedCode made;
    made.begin = FakeVm::kCodeLow;
    made.end = FakeVm::kCodeHigh;
    Registers registers;
    registers.value[kRip] = stack[0];
    registers.value[kRsp] = At(0);
    registers.value[kRbp] = At(20);
    const SpanMemory memory(kStack, std::as_bytes(std::span(stack)));
    const std::unique_ptr<MadeCode> code = hotspot.CodeAt(captured_ns);
    UserStack walked;
    Walker walker(kX86_64);
    walker.Walk(AddressSpace({made}), registers, /*in_syscall=*/false,
                {.memory = memory, .begin = kStack, .end = At(kStackWords)}, &walked, nullptr, code.get());
    return walked;
  }

  FakeVm vm;
  std::vector<uint64_t> stack = std::vector<uint64_t>(kStackWords);
};

void CheckNames(const UserStack& stack) {
  for (const Frame& frame : stack.frames) {
    const RuntimeCode* code = AsRuntimeCode(frame.code);
    if (code == nullptr) continue;
    const std::vector<CodeLine> lines = code->LinesAt(frame.address);
    Require(lines.size() <= kMaxInlined);
    for (const CodeLine& line : lines) Require(line.function.size() <= 2 * kMaxSymbolBytes + 1);
  }
}

void Fuzz(std::span<const uint8_t> input) {
  now_ns = kFirstReadingNs;
  const auto budget = std::make_shared<MemoryBudget>(64 << 10);
  Java java(input[0] % 2 == 0 ? 17 : 25);
  java.Change(input.subspan(1), /*later=*/false);
  CountedMemory memory(java.vm.memory());
  const PagedMemoryLimits limits;
  {
    const absl::StatusOr<std::shared_ptr<HotSpot>> opened = HotSpot::Open(
        memory, java.vm.symbols(), [] { return now_ns; }, MemoryLease(budget, 1));
    Require(memory.Take() <= limits.pages);
    if (!opened.ok()) return;
    HotSpot& hotspot = **opened;
    hotspot.Read(memory, java.stack);
    Require(memory.Take() <= 2 * limits.pages + 2 * kMaxBlobs + 2);
    const UserStack before = java.Walk(hotspot, kFirstReadingNs - 1);
    Require(before.end != EndReason::kComplete);  // nothing was read before it was captured
    const UserStack stack = java.Walk(hotspot, kFirstReadingNs);
    Require(stack.frames.size() <= kStackWords + 2);
    java.Change(input.subspan(1), /*later=*/true);
    now_ns = 2 * kFirstReadingNs;
    for (size_t i = 0; hotspot.HasUnread() && hotspot.Read(memory, java.stack); ++i) {
      Require(i <= stack.frames.size());
      Require(memory.Take() <= 2 * limits.pages);
    }
    CheckNames(stack);
    CheckNames(java.Walk(hotspot, now_ns));
  }
  Require(budget->stats().bytes == 0);
}

}  // namespace
}  // namespace offcpu

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size != 0) offcpu::Fuzz({data, size});
  return 0;
}
