// The headers of an ELF object, 64-bit and little-endian: the first thing that all who read one look at. Safe from any
// thread; blocks as the memory does. What is returned can be indexed; whether it makes sense is for its readers to say.
#ifndef OFFCPU_PROCESS_ELF_HEADERS_H_
#define OFFCPU_PROCESS_ELF_HEADERS_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
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

// Offsets into the file are the addresses of `file`; so they are below.
absl::StatusOr<Elf64_Ehdr> ReadElfHeader(const Memory& file);

// The same with the program headers, of an object that can be mapped to run.
absl::StatusOr<ElfHeaders> ReadElfHeaders(const Memory& file);

// An object may have none, and those of more sections than fit the header occur in relocatable files only: they read as
// none.
absl::StatusOr<std::vector<Elf64_Shdr>> ReadSectionHeaders(const Memory& file, const Elf64_Ehdr& header);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_HEADERS_H_
