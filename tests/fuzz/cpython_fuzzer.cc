// A CPython process whose memory says anything: its offsets, its lists of threads, its frames and its code. Input: a
// byte for its version, then changes of its memory: two bytes for where, one for how many bytes, and these. What is
// read of it is named, and placed on a stack.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "process/address_space.h"
#include "runtimes/interpreted_stack.h"
#include "runtimes/python/code_objects.h"
#include "runtimes/python/cpython.h"
#include "runtimes/python/interpreted_frames.h"
#include "runtimes/python/layout.h"
#include "runtimes/python/threads.h"
#include "tests/runtimes/fake_python.h"

namespace offcpu {
namespace {

class CountedMemory final : public Memory {
 public:
  explicit CountedMemory(const Memory& memory) : memory_(memory) {}
  bool Read(uint64_t address, std::span<std::byte> out) const override {
    ++reads;
    return memory_.Read(address, out);
  }
  mutable size_t reads = 0;

 private:
  const Memory& memory_;
};

void Require(bool holds) {
  if (!holds) std::abort();
}

void Make(FakePython& python) {
  const uint64_t outer =
      python.Code({.name = "outer", .lines = {0x80 | 14 << 3 | 7, 2, 1, 2, 3, 0x80 | 11 << 3, 0, 0}});
  const uint64_t inner = python.Code({.name = "inner", .lines = {0x80 | 13 << 3 | 3, 4, 0x80 | 3, 0}});
  const uint64_t thread = python.AddThread(static_cast<uint64_t>(gettid()));
  python.Enter(thread);
  python.Call(thread, outer, python.InstructionOf(outer, 3));
  python.Call(thread, inner, python.InstructionOf(inner, 1));
  python.Enter(thread);
  python.Call(thread, inner, python.InstructionOf(inner, 5), /*owner=*/1);
  python.AddThread(1);
}

// Changes bytes of what is in use of its memory.
void Change(std::span<const uint8_t> changes, FakePython& python) {
  while (changes.size() > 3) {
    const uint64_t where = changes[0] | uint64_t{changes[1]} << 8;
    const uint64_t at = (where & 0x8000 ? FakePython::kStack : FakePython::kBase + 0x1000) + (where & 0x7fff);
    const size_t count = std::min<size_t>((changes[2] & 7) + 1, changes.size() - 3);
    for (size_t i = 0; i < count; ++i) python.Put(at + i, changes[3 + i]);
    changes = changes.subspan(3 + count);
  }
}

void PlaceOnStack(const InterpretedStack& interpreted) {
  size_t functions = 0;
  for (const InterpretedRun& run : interpreted.runs) functions += run.frames;
  Require(functions == interpreted.frames.size());
  for (const Frame& frame : interpreted.frames) {
    const CodeLine line = AsRuntimeCode(frame.code)->LinesAt(frame.address).front();
    // A character that is not in UTF-8 may be longer than the last one that fits.
    Require(line.function.size() <= kMaxPythonNameBytes + 3 && line.file.size() <= kMaxPythonNameBytes + 3);
  }
  UserStack stack;
  FramePlaces places;
  for (uint64_t i = 0; i < 32; ++i) {
    stack.frames.push_back({.address = i});
    places.pcs.push_back(0x400000 + i);
    places.sps.push_back(FakePython::kStack + i * 0x400);
  }
  const UserStack before = stack;
  if (PlaceInterpreted(interpreted, AddressSpace({}), 64, &stack, &places)) {
    Require(stack.frames.size() <= 65 && places.pcs.size() == stack.frames.size());
  } else {
    Require(stack == before);
  }
}

}  // namespace
}  // namespace offcpu

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  if (size == 0) return 0;
  FakePython python(11 + data[0] % 4);
  Make(python);
  Change({data + 1, size - 1}, python);
  const CountedMemory memory(python.memory());
  const absl::StatusOr<PythonLayout> layout = ReadPythonLayout(memory, python.symbols());
  if (!layout.ok()) return 0;
  CPython cpython(*layout);
  memory.reads = 0;
  const InterpretedStack interpreted = cpython.ReadInterpreter(memory)->Read(gettid());
  Require(memory.reads <= 4096);  // each page once
  if (interpreted.missing.empty()) PlaceOnStack(interpreted);
  return 0;
}
