// A walk over a hostile stack by hostile tables. Input: 17 registers, 512 bytes of stack, then a table, which is taken
// for SFrame as well as for .eh_frame: only one of them makes sense of it. The stack is walked as that of each machine.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "process/address_space.h"
#include "unwind/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  constexpr size_t kStackBytes = 512;
  constexpr size_t kRegisterBytes = kRegisterCount * sizeof(uint64_t);
  constexpr uint64_t kStack = 0x7ffd00000000;
  Registers registers;
  const size_t head = kRegisterBytes + kStackBytes;
  if (size < head) return 0;
  std::memcpy(registers.value.data(), data, kRegisterBytes);
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  SpanMemory memory(kStack, bytes.subspan(kRegisterBytes, kStackBytes));
  auto module = std::make_shared<Module>();
  module->code = {{0x1000, 0x9000}, {0x40000, 0x60000}};
  module->eh_frame.address = 0x9000;
  module->eh_frame.bytes.assign(bytes.begin() + static_cast<ptrdiff_t>(head), bytes.end());
  module->sframe = module->eh_frame;
  MappedCode code;
  code.begin = 0x1000;
  code.end = 0x9000;
  code.module = module;
  MappedCode generated;
  generated.begin = 0x10000;
  generated.end = 0x20000;
  MappedCode hole = code;  // the same module's, too large for the table to leave it out without meaning it
  hole.begin = 0x40000;
  hole.end = 0x60000;
  AddressSpace space({code, generated, hole});
  registers.value[kAArch64Pc] = kX86_64.PcOf(registers);
  registers.value[kAArch64Sp] = kX86_64.SpOf(registers);
  for (const Machine* machine : {&kX86_64, &kAArch64, &kI386}) {
    module->machine = machine;
    Walker walker(*machine);
    if (machine == &kI386) {  // which has them where x86-64 has others
      registers.value[kEip] = kX86_64.PcOf(registers);
      registers.value[kEsp] = kX86_64.SpOf(registers);
    }
    UserStack stack;
    walker.Walk(space, registers, size % 2 == 0, {memory, kStack, kStack + kStackBytes, size % 3 == 0}, &stack);
    // Every frame but the last has more of the stack below it than the one before, but for interrupted ones.
    const bool interrupted = std::any_of(stack.frames.begin(), stack.frames.end(), [](const Frame& frame) {
      return frame.source == FrameSource::kSignalTrampoline;
    });
    if (stack.frames.size() > (interrupted ? kMaxFrames : kStackBytes / machine->word_bytes + 2)) std::abort();
  }
  return 0;
}
