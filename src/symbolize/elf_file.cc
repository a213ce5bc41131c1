#include "symbolize/elf_file.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr size_t kMaxSectionNameBytes = 255;
constexpr size_t kMaxNamesBytes = 4u << 20;  // of all sections
constexpr size_t kMaxNoteBytes = 64u << 10;
constexpr size_t kMaxBuildIdBytes = 64;

bool Supported(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB;
}

uint64_t Align4(uint64_t size) { return (size + 3) & ~uint64_t{3}; }

// The build id among the notes of one section; sizes are 32-bit, so nothing below can wrap.
std::optional<std::string> FindBuildId(std::string_view notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    uint64_t name_size = Align4(note.n_namesz);
    if (name_size > notes.size() || note.n_descsz > notes.size() - name_size) return std::nullopt;
    bool gnu = note.n_namesz == 4 && std::memcmp(notes.data(), "GNU", 4) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID && note.n_descsz > 0 && note.n_descsz <= kMaxBuildIdBytes) {
      return absl::BytesToHexString(std::string(notes.substr(name_size, note.n_descsz)));
    }
    notes.remove_prefix(std::min<uint64_t>(name_size + Align4(note.n_descsz), notes.size()));
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<ElfFile> ElfFile::Parse(const Memory& file) {
  auto header = file.ReadValue<Elf64_Ehdr>(0);
  if (!header || !Supported(*header)) return absl::InvalidArgumentError("not a 64-bit little-endian ELF file");
  ElfFile elf(file);
  // More sections than fit e_shnum occur in relocatable files only; they read as none.
  if (header->e_shnum == 0) return elf;
  if (header->e_shentsize != sizeof(Elf64_Shdr)) return absl::InvalidArgumentError("odd size of section headers");
  std::vector<Elf64_Shdr> headers(header->e_shnum);
  if (!file.Read(header->e_shoff, std::as_writable_bytes(std::span(headers)))) {
    return absl::DataLossError("section headers beyond the end of the file");
  }
  std::vector<uint32_t> name_offsets;
  for (const Elf64_Shdr& section : headers) {
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
    if (auto id = FindBuildId(*notes)) return *id;
  }
  return "";
}

}  // namespace offcpu
