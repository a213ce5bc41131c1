// What differs between machines, as a value for each: its registers and its ABI, as far as ELF objects are read and
// stacks are walked. Constants; safe from any thread. Does nothing: rows are made of it and applied in src/unwind.
//
// Stacks are captured of the machine that this program is built for. Those of the others can be walked if a caller
// brings them.
#ifndef OFFCPU_PROCESS_MACHINE_H_
#define OFFCPU_PROCESS_MACHINE_H_

#include <array>
#include <cstdint>
#include <span>

#include "process/registers.h"

namespace offcpu {

// A word of a signal frame, at `offset` from the sp that its trampoline runs with: what it always says in the bits of
// `mask`.
struct ContextWord {
  int32_t offset = 0;
  uint64_t mask = UINT64_MAX;
  uint64_t value = 0;
  bool from_sp = false;  // the value is that much above the sp
};

struct Machine {
  uint16_t elf_machine = 0;  // EM_*
  uint8_t sframe_abi = 0;    // of SFrame's header. 0: SFrame does not know the machine
  uint8_t word_bytes = 8;    // of an address; 8 or 4

  // Registers by their DWARF numbers. Those that rules may name are below `pc`.
  uint8_t pc = 0;
  uint8_t sp = 0;
  uint8_t fp = 0;
  uint8_t extra = 0;  // another one that functions preserve, and that a frame may be found by
  uint8_t ra = 0;     // what tables call the return address
  // A call pushes the return address; else it leaves it in the register `ra`.
  bool call_pushes = false;
  uint8_t result = 0;                     // of a system call
  std::array<uint8_t, 3> arguments = {};  // the first ones of a system call
  uint8_t syscall_bytes = 0;              // of the instruction that makes one
  // A bit for each register that does not hold a value of the program after a system call.
  uint32_t lost_in_syscall = 0;
  // The width of user addresses, below 64. A return address may be signed in the bits above.
  uint8_t address_bits = 0;
  // What a function that calls nobody may use below its stack pointer: signal handlers leave it alone.
  uint8_t red_zone_bytes = 0;
  // GNU ld's lazy PLT is blocks of so many bytes, each of which pushes a word; its .eh_frame says so by one expression
  // over the pc. 0: it has no such expression.
  uint8_t plt_block_bytes = 0;

  // The signal frame: where it has each register, from the sp that the trampoline runs with.
  std::array<uint16_t, kMaxRegisters> context = {};
  std::span<const ContextWord> context_like;  // alike in all signal frames
  std::span<const ContextWord> context_sure;  // only current kernels' frames have these
  uint64_t context_align = 0;                 // of the sp, with the latter

  // Its kernels run programs of this one as well, and their stacks are captured, too; null: none.
  const Machine* also = nullptr;

  int register_count() const { return pc + 1; }
  uint64_t PcOf(const Registers& registers) const { return registers.value[pc]; }
  uint64_t SpOf(const Registers& registers) const { return registers.value[sp]; }
  uint64_t FpOf(const Registers& registers) const { return registers.value[fp]; }
};

extern const Machine kX86_64;
extern const Machine kAArch64;
extern const Machine kI386;

// The one that this program is built for. Captured registers are its own, also where a thread runs code of `also`.
#if defined(__x86_64__)
inline constexpr const Machine& kHostMachine = kX86_64;
#elif defined(__aarch64__)
inline constexpr const Machine& kHostMachine = kAArch64;
#else
#error "a machine without a Machine"
#endif

// The one whose ELF objects have this e_machine and this class (EI_CLASS), of those whose stacks are captured; else
// null.
const Machine* CapturedMachine(uint16_t elf_machine, uint8_t elf_class);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MACHINE_H_
