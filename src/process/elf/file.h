// The sections of an ELF file, little-endian, of which only the pieces that are asked for are read. Every
// byte is taken as hostile, and no read is larger than a limit. Safe from any thread; reads block as the file does.
//
// Offsets into the file are the addresses of a Memory, so that an image in memory is read the same way. By hand and not
// through libelf, which reads a file whole or maps it: one is too much, and the other dies when the file is truncated.
#ifndef OFFCPU_PROCESS_ELF_FILE_H_
#define OFFCPU_PROCESS_ELF_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "process/memory.h"

namespace offcpu {

inline constexpr uint64_t kMaxSectionBytes = 64u << 20;

struct ElfSection {
  std::string_view name;  // in ElfFile; at most 255 bytes
  uint32_t type = 0;      // SHT_*
  uint64_t flags = 0;     // SHF_*
  uint64_t address = 0;   // link time
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
};

class ElfFile {
 public:
  ElfFile(ElfFile&&) = default;
  ElfFile& operator=(ElfFile&&) = default;

  // Reads the headers and the names; a file may have no sections. `file` must outlive the result.
  static absl::StatusOr<ElfFile> Parse(const Memory& file);

  const std::vector<ElfSection>& sections() const { return sections_; }
  // The first section of that name or type, or null.
  const ElfSection* Find(std::string_view name) const;
  const ElfSection* FindType(uint32_t type) const;

  // May a section's bytes be read, or are there none, or are they compressed or too many?
  bool MayRead(const ElfSection& section) const;
  const Memory& memory() const { return *file_; }
  bool is_32_bit() const { return is_32_bit_; }
  uint16_t machine() const { return machine_; }  // EM_*

  // The bytes of a section. An error if it has none, is compressed, too large, or not all there.
  absl::StatusOr<std::string> Read(const ElfSection& section) const;

  // The first NT_GNU_BUILD_ID note, in lower-case hex; empty if there is none.
  std::string BuildId() const;

 private:
  explicit ElfFile(const Memory& file) : file_(&file) {}
  void NameSections(uint32_t names_index, std::span<const uint32_t> name_offsets);

  const Memory* file_;
  bool is_32_bit_ = false;
  uint16_t machine_ = 0;
  std::vector<char> names_;  // .shstrtab
  std::vector<ElfSection> sections_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_FILE_H_
