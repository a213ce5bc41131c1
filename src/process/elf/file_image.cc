#include "process/elf/file_image.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "process/elf/headers.h"
#include "process/elf/image.h"
#include "process/elf/table_sections.h"

namespace offcpu {
namespace {

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
    if (p.p_vaddr >= kElfAddressLimit || p.p_filesz >= kElfAddressLimit || p.p_offset >= kElfAddressLimit) continue;
    const uint64_t skip = std::min(p.p_vaddr, p.p_offset) % kElfPage;
    mappings.push_back({.begin = p.p_vaddr - skip,
                        .end = (p.p_vaddr + p.p_filesz + kElfPage - 1) & ~(kElfPage - 1),
                        .offset = p.p_offset - skip,
                        .executable = (p.p_flags & PF_X) != 0});
  }
  std::sort(mappings.begin(), mappings.end(),
            [](const FileMapping& a, const FileMapping& b) { return a.begin < b.begin; });
  return mappings;
}

}  // namespace

absl::StatusOr<Module> ReadFileImage(const Memory& file) {
  const absl::StatusOr<ElfHeaders> headers = ReadElfHeaders(file);
  if (!headers.ok()) return headers.status();
  const std::vector<FileMapping> mappings = MappingsOf(headers->segments);
  const auto code = std::find_if(mappings.begin(), mappings.end(), [](const FileMapping& m) { return m.executable; });
  if (code == mappings.end()) return absl::InvalidArgumentError("no executable segment");
  absl::StatusOr<ElfImage> image = ReadElfImage(MappedFile(file, mappings), mappings, *code);
  if (!image.ok()) return image.status();
  AddTableSections(file, &image->module);
  return std::move(image->module);
}

}  // namespace offcpu
