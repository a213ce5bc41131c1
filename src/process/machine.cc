#include "process/machine.h"

#include <elf.h>

namespace offcpu {

const Machine* CapturedMachine(uint16_t elf_machine, uint8_t elf_class) {
  for (const Machine* machine : {&kHostMachine, kHostMachine.also}) {
    if (machine == nullptr) continue;
    const uint8_t its_class = machine->word_bytes == 8 ? ELFCLASS64 : ELFCLASS32;
    if (elf_machine == machine->elf_machine && elf_class == its_class) return machine;
  }
  return nullptr;
}

}  // namespace offcpu
