#include "process/file_image.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "process/elf_image.h"
#include "process/elf_sections.h"

namespace offcpu {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kAddressLimit = uint64_t{1} << 56;

// The file as its segments say that it is mapped.
class MappedFile final : public Memory {
 public:
  MappedFile(const Memory& file, std::span<const FileMapping> mappings) : file_(file), mappings_(mappings) {}
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override {
    for (const FileMapping& m : mappings_) {
      if (address < m.begin || address >= m.end || out.size() > m.end - address) continue;
      return file_.Read(m.offset + (address - m.begin), out);
    }
    return false;
  }

 private:
  const Memory& file_;
  std::span<const FileMapping> mappings_;
};

// At link-time addresses, sorted by them. Whether the headers make sense is for ReadElfImage to say.
std::vector<FileMapping> MappingsOf(std::span<const Elf64_Phdr> segments) {
  std::vector<FileMapping> mappings;
  for (const Elf64_Phdr& p : segments) {
    if (p.p_type != PT_LOAD || p.p_filesz == 0) continue;
    if (p.p_vaddr >= kAddressLimit || p.p_filesz >= kAddressLimit || p.p_offset >= kAddressLimit) continue;
    const uint64_t skip = std::min(p.p_vaddr, p.p_offset) % kPage;
    mappings.push_back({.begin = p.p_vaddr - skip,
                        .end = (p.p_vaddr + p.p_filesz + kPage - 1) & ~(kPage - 1),
                        .offset = p.p_offset - skip,
                        .executable = (p.p_flags & PF_X) != 0});
  }
  std::sort(mappings.begin(), mappings.end(),
            [](const FileMapping& a, const FileMapping& b) { return a.begin < b.begin; });
  return mappings;
}

}  // namespace

absl::StatusOr<Module> ReadFileImage(const Memory& file) {
  const std::optional<Elf64_Ehdr> header = file.ReadValue<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return absl::InvalidArgumentError("not an ELF file");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return absl::InvalidArgumentError("not an ELF object of this machine");
  }
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
    return absl::InvalidArgumentError("not a program or shared object: it has not been linked");
  }
  if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > kMaxProgramHeaders) {
    return absl::InvalidArgumentError("malformed ELF header");
  }
  std::vector<Elf64_Phdr> segments(header->e_phnum);
  if (!file.Read(header->e_phoff, std::as_writable_bytes(std::span(segments)))) {
    return absl::InvalidArgumentError("cannot read the program headers");
  }
  const std::vector<FileMapping> mappings = MappingsOf(segments);
  const auto code = std::find_if(mappings.begin(), mappings.end(), [](const FileMapping& m) { return m.executable; });
  if (code == mappings.end()) return absl::InvalidArgumentError("no executable segment");
  absl::StatusOr<ElfImage> image = ReadElfImage(MappedFile(file, mappings), mappings, *code);
  if (!image.ok()) return image.status();
  AddTableSections(file, &image->module);
  return std::move(image->module);
}

}  // namespace offcpu
