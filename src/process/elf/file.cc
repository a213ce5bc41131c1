#include "process/elf/file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "process/elf/headers.h"
#include "process/elf/notes.h"

namespace offcpu {
namespace {

constexpr size_t kMaxSectionNameBytes = 255;
constexpr size_t kMaxNamesBytes = 4u << 20;  // of all sections

}  // namespace

absl::StatusOr<ElfFile> ElfFile::Parse(const Memory& file) {
  const absl::StatusOr<Elf64_Ehdr> header = ReadElfHeader(file);
  if (!header.ok()) return header.status();
  const absl::StatusOr<std::vector<Elf64_Shdr>> headers = ReadSectionHeaders(file, *header);
  if (!headers.ok()) return headers.status();
  ElfFile elf(file);
  elf.is_32_bit_ = Is32Bit(*header);
  elf.machine_ = header->e_machine;
  std::vector<uint32_t> name_offsets;
  for (const Elf64_Shdr& section : *headers) {
    elf.sections_.push_back({.name = "",
                             .type = section.sh_type,
                             .flags = section.sh_flags,
                             .address = section.sh_addr,
                             .offset = section.sh_offset,
                             .size = section.sh_size,
                             .link = section.sh_link});
    name_offsets.push_back(section.sh_name);
  }
  elf.NameSections(header->e_shstrndx, name_offsets);
  return elf;
}

void ElfFile::NameSections(uint32_t names_index, std::span<const uint32_t> name_offsets) {
  if (names_index >= sections_.size()) return;
  if (sections_[names_index].size > kMaxNamesBytes) return;
  auto names = Read(sections_[names_index]);
  if (!names.ok()) return;
  names_.assign(names->begin(), names->end());
  for (size_t i = 0; i < sections_.size(); ++i) {
    if (name_offsets[i] >= names_.size()) continue;
    const char* name = names_.data() + name_offsets[i];
    sections_[i].name = {name, strnlen(name, std::min(names_.size() - name_offsets[i], kMaxSectionNameBytes))};
  }
}

const ElfSection* ElfFile::Find(std::string_view name) const {
  auto it = std::find_if(sections_.begin(), sections_.end(), [&](const ElfSection& s) { return s.name == name; });
  return it == sections_.end() ? nullptr : &*it;
}

const ElfSection* ElfFile::FindType(uint32_t type) const {
  auto it = std::find_if(sections_.begin(), sections_.end(), [&](const ElfSection& s) { return s.type == type; });
  return it == sections_.end() ? nullptr : &*it;
}

bool ElfFile::MayRead(const ElfSection& section) const {
  return section.type != SHT_NOBITS && (section.flags & SHF_COMPRESSED) == 0 && section.size <= kMaxSectionBytes;
}

absl::StatusOr<std::string> ElfFile::Read(const ElfSection& section) const {
  if (section.type == SHT_NOBITS) return absl::NotFoundError("section without bytes");
  if ((section.flags & SHF_COMPRESSED) != 0) return absl::UnimplementedError("compressed section");
  if (section.size > kMaxSectionBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("section of ", section.size, " bytes"));
  }
  std::string bytes(section.size, '\0');
  if (!file_->Read(section.offset, std::as_writable_bytes(std::span(bytes)))) {
    return absl::DataLossError("section beyond the end of the file");
  }
  return bytes;
}

std::string ElfFile::BuildId() const {
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE || section.size > kMaxNoteBytes) continue;
    auto notes = Read(section);
    if (!notes.ok()) continue;
    std::string id = BuildIdOf(std::as_bytes(std::span(*notes)), 4);
    if (!id.empty()) return id;
  }
  return "";
}

}  // namespace offcpu
