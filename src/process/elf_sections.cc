#include "process/elf_sections.h"

#include <elf.h>
#include <zlib.h>

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
#include "process/go_frames.h"

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

// The one of that name and kind, not larger than a table may be.
std::optional<Elf64_Shdr> FindSection(const Memory& file, std::string_view wanted, bool mapped) {
  size_t names = 0;
  const auto sections = ReadSectionHeaders(file, &names);
  if (!sections) return std::nullopt;
  const Elf64_Shdr& strings = (*sections)[names];
  std::string name(wanted.size() + 1, '\0');  // with its end
  for (const Elf64_Shdr& s : *sections) {
    // Debug files keep the header of a section that they do not have.
    const bool is_mapped = (s.sh_flags & SHF_ALLOC) != 0;
    if (s.sh_type == SHT_NOBITS || is_mapped != mapped || s.sh_size == 0 || s.sh_size > kMaxTableBytes) continue;
    if (s.sh_name > strings.sh_size || strings.sh_size - s.sh_name < name.size() ||
        !file.Read(strings.sh_offset + s.sh_name, std::as_writable_bytes(std::span(name)))) {
      continue;
    }
    if (name.back() == '\0' && name.starts_with(wanted)) return s;
  }
  return std::nullopt;
}

// What a compressed section holds; nothing if it is damaged, too large, or compressed in another way than by zlib.
std::vector<std::byte> Inflate(std::span<const std::byte> section) {
  Elf64_Chdr header;
  if (section.size() < sizeof(header)) return {};
  std::memcpy(&header, section.data(), sizeof(header));
  if (header.ch_type != ELFCOMPRESS_ZLIB || header.ch_size > kMaxTableBytes) return {};
  const std::span<const std::byte> from = section.subspan(sizeof(header));
  std::vector<std::byte> bytes(header.ch_size);
  uLongf size = bytes.size();
  const int result = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                                reinterpret_cast<const Bytef*>(from.data()), from.size());
  if (result != Z_OK || size != bytes.size()) return {};
  return bytes;
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

std::vector<CodeRange> ReadGoFrames(const Memory& file) {
  const std::optional<Elf64_Shdr> text = FindSection(file, ".text", /*mapped=*/true);
  ModuleTable table = ReadTableSection(file, ".gopclntab");
  if (table.bytes.empty()) table = ReadTableSection(file, ".data.rel.ro.gopclntab");  // it can be loaded anywhere
  if (!text || table.bytes.empty()) return {};
  return GoCodeWithoutFrames({reinterpret_cast<const char*>(table.bytes.data()), table.bytes.size()}, text->sh_addr);
}

}  // namespace

ModuleTable ReadTableSection(const Memory& file, std::string_view wanted) {
  ModuleTable table;
  const std::optional<Elf64_Shdr> section = FindSection(file, wanted, /*mapped=*/true);
  if (!section) return table;
  table.address = section->sh_addr;
  table.bytes.resize(section->sh_size);
  if (!file.Read(section->sh_offset, table.bytes)) table = ModuleTable();
  return table;
}

ModuleTable ReadDebugFrame(const Memory& file) {
  ModuleTable table;
  const std::optional<Elf64_Shdr> section = FindSection(file, ".debug_frame", /*mapped=*/false);
  if (!section) return table;
  table.bytes.resize(section->sh_size);
  if (!file.Read(section->sh_offset, table.bytes)) return ModuleTable();
  if ((section->sh_flags & SHF_COMPRESSED) != 0) table.bytes = Inflate(table.bytes);
  return table;
}

void AddTableSections(const Memory& file, Module* module) {
  const bool own_eh_frame =
      AddTable(file, ".eh_frame", !module->eh_frame_hdr.bytes.empty() || module->damaged_eh_frame, &module->eh_frame);
  const bool own_sframe =
      AddTable(file, ".sframe", !module->sframe.bytes.empty() || module->damaged_sframe, &module->sframe);
  module->debug_frame = ReadDebugFrame(file);
  module->is_go = FindSection(file, ".note.go.buildid", /*mapped=*/true).has_value();
  if (module->is_go) module->go_without_frames = ReadGoFrames(file);
  const bool has_table =
      !module->eh_frame.bytes.empty() || !module->sframe.bytes.empty() || !module->debug_frame.bytes.empty();
  module->matches_file = own_eh_frame && own_sframe && has_table;
}

}  // namespace offcpu
