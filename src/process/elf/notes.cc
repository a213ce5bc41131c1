#include "process/elf/notes.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"

namespace offcpu {

// Sizes are 32-bit, so nothing here can wrap.
std::string BuildIdOf(std::span<const std::byte> notes, uint64_t align) {
  constexpr size_t kMaxIdBytes = 64;
  const auto padded = [align](uint64_t size) { return (size + align - 1) & ~(align - 1); };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof(note));
    const uint64_t id_at = padded(sizeof(note) + uint64_t{note.n_namesz});
    const uint64_t end = id_at + note.n_descsz;
    if (end > notes.size()) break;
    const bool has_size = note.n_descsz > 0 && note.n_descsz <= kMaxIdBytes;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) && has_size &&
        std::memcmp(notes.data() + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
      const char* id = reinterpret_cast<const char*>(notes.data()) + id_at;
      return absl::BytesToHexString(std::string(id, note.n_descsz));
    }
    notes = notes.subspan(std::min<uint64_t>(padded(end), notes.size()));
  }
  return "";
}

}  // namespace offcpu
