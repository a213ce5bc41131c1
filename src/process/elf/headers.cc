#include "process/elf/headers.h"

#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"

namespace offcpu {
namespace {

Elf64_Ehdr Widened(const Elf32_Ehdr& header) {
  Elf64_Ehdr wide = {};
  std::memcpy(wide.e_ident, header.e_ident, EI_NIDENT);
  wide.e_type = header.e_type;
  wide.e_machine = header.e_machine;
  wide.e_version = header.e_version;
  wide.e_entry = header.e_entry;
  wide.e_phoff = header.e_phoff;
  wide.e_shoff = header.e_shoff;
  wide.e_flags = header.e_flags;
  wide.e_ehsize = header.e_ehsize;
  wide.e_phentsize = header.e_phentsize;
  wide.e_phnum = header.e_phnum;
  wide.e_shentsize = header.e_shentsize;
  wide.e_shnum = header.e_shnum;
  wide.e_shstrndx = header.e_shstrndx;
  return wide;
}

}  // namespace

Elf64_Phdr Widened(const Elf32_Phdr& p) {
  return {.p_type = p.p_type,
          .p_flags = p.p_flags,
          .p_offset = p.p_offset,
          .p_vaddr = p.p_vaddr,
          .p_paddr = p.p_paddr,
          .p_filesz = p.p_filesz,
          .p_memsz = p.p_memsz,
          .p_align = p.p_align};
}

Elf64_Shdr Widened(const Elf32_Shdr& s) {
  return {.sh_name = s.sh_name,
          .sh_type = s.sh_type,
          .sh_flags = s.sh_flags,
          .sh_addr = s.sh_addr,
          .sh_offset = s.sh_offset,
          .sh_size = s.sh_size,
          .sh_link = s.sh_link,
          .sh_info = s.sh_info,
          .sh_addralign = s.sh_addralign,
          .sh_entsize = s.sh_entsize};
}

Elf64_Sym Widened(const Elf32_Sym& symbol) {
  return {.st_name = symbol.st_name,
          .st_info = symbol.st_info,
          .st_other = symbol.st_other,
          .st_shndx = symbol.st_shndx,
          .st_value = symbol.st_value,
          .st_size = symbol.st_size};
}

Elf64_Dyn Widened(const Elf32_Dyn& entry) { return {.d_tag = entry.d_tag, .d_un = {.d_val = entry.d_un.d_val}}; }

absl::StatusOr<Elf64_Ehdr> ReadElfHeader(const Memory& file) {
  const std::optional<Elf32_Ehdr> narrow = file.ReadValue<Elf32_Ehdr>(0);  // the shorter one, and both begin alike
  if (!narrow || std::memcmp(narrow->e_ident, ELFMAG, SELFMAG) != 0) {
    return absl::InvalidArgumentError("not an ELF file");
  }
  if (narrow->e_ident[EI_DATA] == ELFDATA2LSB && narrow->e_ident[EI_CLASS] == ELFCLASS32) return Widened(*narrow);
  if (narrow->e_ident[EI_DATA] != ELFDATA2LSB || narrow->e_ident[EI_CLASS] != ELFCLASS64) {
    return absl::InvalidArgumentError("not an ELF object of this machine");
  }
  const std::optional<Elf64_Ehdr> header = file.ReadValue<Elf64_Ehdr>(0);
  if (!header) return absl::InvalidArgumentError("not an ELF file");
  return *header;
}

absl::StatusOr<ElfHeaders> ReadElfHeaders(const Memory& file) {
  absl::StatusOr<Elf64_Ehdr> header = ReadElfHeader(file);
  if (!header.ok()) return header.status();
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
    return absl::InvalidArgumentError("not a program or shared object: it has not been linked");
  }
  const bool is_32_bit = Is32Bit(*header);
  const size_t header_bytes = is_32_bit ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
  if (header->e_phentsize != header_bytes || header->e_phnum > kMaxProgramHeaders) {
    return absl::InvalidArgumentError("malformed ELF header");
  }
  ElfHeaders headers = {.file = *header, .segments = std::vector<Elf64_Phdr>(header->e_phnum)};
  if (!ReadStructs<Elf64_Phdr, Elf32_Phdr>(file, header->e_phoff, is_32_bit, headers.segments)) {
    return absl::InvalidArgumentError("cannot read the program headers");
  }
  return headers;
}

absl::StatusOr<std::vector<Elf64_Shdr>> ReadSectionHeaders(const Memory& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (sections.empty()) return sections;
  const size_t header_bytes = Is32Bit(header) ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
  if (header.e_shentsize != header_bytes) return absl::InvalidArgumentError("odd size of section headers");
  if (!ReadStructs<Elf64_Shdr, Elf32_Shdr>(file, header.e_shoff, Is32Bit(header), sections)) {
    return absl::DataLossError("section headers beyond the end of the file");
  }
  return sections;
}

}  // namespace offcpu
