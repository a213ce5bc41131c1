#include "process/elf_sections.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/elf_image.h"

namespace offcpu {
namespace {

std::optional<std::vector<Elf64_Shdr>> ReadSectionHeaders(const Memory& file, size_t* names) {
  std::optional<Elf64_Ehdr> header = file.ReadValue<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr) ||
      header->e_shstrndx >= header->e_shnum) {
    return std::nullopt;
  }
  std::vector<Elf64_Shdr> sections(header->e_shnum);
  if (!file.Read(header->e_shoff, std::as_writable_bytes(std::span(sections)))) return std::nullopt;
  *names = header->e_shstrndx;
  return sections;
}

}  // namespace

ModuleTable ReadTableSection(const Memory& file, std::string_view wanted) {
  ModuleTable table;
  size_t names = 0;
  auto sections = ReadSectionHeaders(file, &names);
  if (!sections) return table;
  std::string name(wanted.size() + 1, '\0');  // with its end
  for (const Elf64_Shdr& s : *sections) {
    // Debug files keep the header of a section that they do not have.
    if (s.sh_type == SHT_NOBITS || !(s.sh_flags & SHF_ALLOC) || s.sh_size == 0 || s.sh_size > kMaxTableBytes) continue;
    const Elf64_Shdr& strings = (*sections)[names];
    if (s.sh_name > strings.sh_size || strings.sh_size - s.sh_name < name.size() ||
        !file.Read(strings.sh_offset + s.sh_name, std::as_writable_bytes(std::span(name)))) {
      continue;
    }
    if (name.back() != '\0' || !name.starts_with(wanted)) continue;
    table.address = s.sh_addr;
    table.bytes.resize(s.sh_size);
    if (!file.Read(s.sh_offset, table.bytes)) table = ModuleTable();
    return table;
  }
  return table;
}

void AddTableSections(const Memory& file, Module* module) {
  ModuleTable eh_frame = ReadTableSection(file, ".eh_frame");
  if (module->eh_frame_hdr.bytes.empty())
    module->eh_frame = std::move(eh_frame);
  else
    module->matches_file = !eh_frame.bytes.empty() && eh_frame.bytes == module->eh_frame.bytes;
  if (module->sframe.bytes.empty() && !module->damaged_sframe) module->sframe = ReadTableSection(file, ".sframe");
}

}  // namespace offcpu
