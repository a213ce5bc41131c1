#include "process/elf_sections.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
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

// A linker may reserve more for a table than it needs in the end, and leaves zeros there.
bool IsSameButZeros(const ModuleTable& table, const ModuleTable& section) {
  if (table.address != section.address || section.bytes.empty() || table.bytes.size() < section.bytes.size())
    return false;
  const auto rest = table.bytes.begin() + static_cast<ptrdiff_t>(section.bytes.size());
  return std::equal(section.bytes.begin(), section.bytes.end(), table.bytes.begin()) &&
         std::all_of(rest, table.bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Is `table` the file's, after it was taken from there unless the program headers had named it?
bool AddTable(const Memory& file, std::string_view name, bool named, ModuleTable* table) {
  ModuleTable section = ReadTableSection(file, name);
  if (named) return IsSameButZeros(*table, section);
  *table = std::move(section);
  return true;
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
  const bool own_eh_frame =
      AddTable(file, ".eh_frame", !module->eh_frame_hdr.bytes.empty() || module->damaged_eh_frame, &module->eh_frame);
  const bool own_sframe =
      AddTable(file, ".sframe", !module->sframe.bytes.empty() || module->damaged_sframe, &module->sframe);
  module->matches_file =
      own_eh_frame && own_sframe && !(module->eh_frame.bytes.empty() && module->sframe.bytes.empty());
}

}  // namespace offcpu
