// Reads an ELF object out of the memory of the process that has mapped it. Needs the mappings of one load of the file;
// safe from any thread, blocks as long as the memory does. Every byte is taken as hostile: what is returned has been
// checked against the program headers, and what does not fit is refused or left out.
//
// Does not open the file and does not interpret the tables: that is the unwinder's part.
#ifndef OFFCPU_PROCESS_ELF_IMAGE_H_
#define OFFCPU_PROCESS_ELF_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

inline constexpr size_t kMaxTableBytes = 64 << 20;  // of one unwind table
inline constexpr size_t kMaxProgramHeaders = 256;
inline constexpr size_t kMaxNoteBytes = 64 << 10;  // of one PT_NOTE

// [begin, end) of the process shows the file from `offset` on.
struct FileMapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
};

struct ElfImage {
  Module module;       // without path, content_hash and file
  uint64_t bias = 0;   // address in the process minus link-time address, mod 2^64
  uint64_t begin = 0;  // [begin, end) of the process: what the PT_LOADs span, in whole pages
  uint64_t end = 0;
  uint64_t head_hash = 0;  // of the ELF header, the program headers and the build id
};

// `mappings`: sorted by address, the first one showing the file's first bytes.
absl::StatusOr<ElfImage> ReadElfImage(const Memory& memory, std::span<const FileMapping> mappings);

// The head_hash that ReadElfImage would yield now, by a few small reads: tells whether another object has taken the
// place of one that was read before.
absl::StatusOr<uint64_t> ReadHeadHash(const Memory& memory, std::span<const FileMapping> mappings);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_IMAGE_H_
