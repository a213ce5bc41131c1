// Notes of an ELF object, as they lie in a segment or a section. A pure function of the bytes; safe from any thread.
#ifndef OFFCPU_PROCESS_ELF_NOTES_H_
#define OFFCPU_PROCESS_ELF_NOTES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace offcpu {

inline constexpr size_t kMaxNoteBytes = 64 << 10;  // of one segment or section: larger ones are not read

// The first build id, in lower-case hex; "" if there is none. `align`: 4, or 8 where the notes say so.
std::string BuildIdOf(std::span<const std::byte> notes, uint64_t align);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_NOTES_H_
