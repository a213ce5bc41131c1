// The headers of an ELF object, little-endian: the first thing that all who read one look at. Safe from any thread;
// blocks as the memory does. What is returned can be indexed; whether it makes sense is for its readers to say.
//
// Objects of 32 bits have fields of other sizes in another order. They are read into the structs of 64 bits, so that
// nobody else has to know: only e_ident still says what the object is.
#ifndef OFFCPU_PROCESS_ELF_HEADERS_H_
#define OFFCPU_PROCESS_ELF_HEADERS_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "process/memory.h"

namespace offcpu {

inline constexpr size_t kMaxProgramHeaders = 64;
inline constexpr uint64_t kElfPage = 4096;
inline constexpr uint64_t kElfAddressLimit = uint64_t{1} << 56;  // of user addresses with five-level paging

struct ElfHeaders {
  Elf64_Ehdr file = {};
  std::vector<Elf64_Phdr> segments;
};

inline bool Is32Bit(const Elf64_Ehdr& header) { return header.e_ident[EI_CLASS] == ELFCLASS32; }

// What an object of 32 bits has in place of a struct of 64.
Elf64_Phdr Widened(const Elf32_Phdr& p);
Elf64_Shdr Widened(const Elf32_Shdr& s);
Elf64_Sym Widened(const Elf32_Sym& symbol);
Elf64_Dyn Widened(const Elf32_Dyn& entry);

// `count` of the struct at `offset`; false if they are not all there.
template <typename Wide, typename Narrow>
[[nodiscard]] bool ReadStructs(const Memory& file, uint64_t offset, bool is_32_bit, std::span<Wide> out) {
  if (!is_32_bit) return file.Read(offset, std::as_writable_bytes(out));
  std::vector<Narrow> narrow(out.size());
  if (!file.Read(offset, std::as_writable_bytes(std::span(narrow)))) return false;
  for (size_t i = 0; i < out.size(); ++i) out[i] = Widened(narrow[i]);
  return true;
}

// Offsets into the file are the addresses of `file`; so they are below.
absl::StatusOr<Elf64_Ehdr> ReadElfHeader(const Memory& file);

// The same with the program headers, of an object that can be mapped to run.
absl::StatusOr<ElfHeaders> ReadElfHeaders(const Memory& file);

// An object may have none, and those of more sections than fit the header occur in relocatable files only: they read as
// none.
absl::StatusOr<std::vector<Elf64_Shdr>> ReadSectionHeaders(const Memory& file, const Elf64_Ehdr& header);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_HEADERS_H_
