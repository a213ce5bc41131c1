#include "process/elf/headers.h"

#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"

namespace offcpu {

absl::StatusOr<Elf64_Ehdr> ReadElfHeader(const Memory& file) {
  const std::optional<Elf64_Ehdr> header = file.ReadValue<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return absl::InvalidArgumentError("not an ELF file");
  }
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return absl::InvalidArgumentError("not an ELF object of this machine");
  }
  return *header;
}

absl::StatusOr<ElfHeaders> ReadElfHeaders(const Memory& file) {
  absl::StatusOr<Elf64_Ehdr> header = ReadElfHeader(file);
  if (!header.ok()) return header.status();
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
    return absl::InvalidArgumentError("not a program or shared object: it has not been linked");
  }
  if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > kMaxProgramHeaders) {
    return absl::InvalidArgumentError("malformed ELF header");
  }
  ElfHeaders headers = {.file = *header, .segments = std::vector<Elf64_Phdr>(header->e_phnum)};
  if (!file.Read(header->e_phoff, std::as_writable_bytes(std::span(headers.segments)))) {
    return absl::InvalidArgumentError("cannot read the program headers");
  }
  return headers;
}

absl::StatusOr<std::vector<Elf64_Shdr>> ReadSectionHeaders(const Memory& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (sections.empty()) return sections;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return absl::InvalidArgumentError("odd size of section headers");
  if (!file.Read(header.e_shoff, std::as_writable_bytes(std::span(sections)))) {
    return absl::DataLossError("section headers beyond the end of the file");
  }
  return sections;
}

}  // namespace offcpu
