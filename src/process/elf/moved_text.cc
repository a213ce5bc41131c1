#include "process/elf/moved_text.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/status/statusor.h"
#include "process/elf/headers.h"

namespace offcpu {
namespace {

uint64_t FirstPage(uint64_t address) { return address & ~(kElfPage - 1); }
uint64_t PageBehind(uint64_t address) { return FirstPage(address + kElfPage - 1); }

bool IsInCode(const Module& module, uint64_t begin, uint64_t end) {
  return std::any_of(module.code.begin(), module.code.end(), [begin, end](const CodeRange& code) {
    return begin >= FirstPage(code.begin) && end <= PageBehind(code.end);
  });
}

// The same bytes at both addresses?
bool IsAlike(const Memory& a, uint64_t at_a, const Memory& b, uint64_t at_b) {
  std::array<std::byte, 64> bytes_a;
  std::array<std::byte, 64> bytes_b;
  return a.Read(at_a, bytes_a) && b.Read(at_b, bytes_b) && bytes_a == bytes_b;
}

}  // namespace

// Places spread over all of it. A debugger, or the program itself, may have changed a few.
bool IsMovedText(const Module& module, const Memory& memory, uint64_t begin, uint64_t end, uint64_t bias) {
  constexpr uint64_t kPlaces = 32;
  if (!IsInCode(module, begin - bias, end - bias)) return false;
  if (!module.file) return true;
  const FileMemory file(module.file.get());
  const absl::StatusOr<ElfHeaders> headers = ReadElfHeaders(file);
  if (!headers.ok()) return false;
  for (const Elf64_Phdr& p : headers->segments) {
    const uint64_t first = std::max(begin - bias, p.p_vaddr);
    const uint64_t last = std::min(end - bias, p.p_vaddr + p.p_filesz);
    if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0 || first >= last) continue;
    uint64_t alike = 0;
    for (uint64_t i = 0; i < kPlaces; ++i) {
      const uint64_t at = first + (last - first) / kPlaces * i;
      alike += IsAlike(memory, bias + at, file, at - p.p_vaddr + p.p_offset) ? 1 : 0;
    }
    return alike >= kPlaces - kPlaces / 4;
  }
  return false;
}

}  // namespace offcpu
