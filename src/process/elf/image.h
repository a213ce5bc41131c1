// Reads an ELF object out of the memory of the process that has mapped it. Needs the file's mappings;
// safe from any thread, blocks as long as the memory does. Every byte is taken as hostile: what is returned has been
// checked against the program headers, and what does not fit is refused or left out.
//
// Does not open the file and does not interpret the tables: that is the unwinder's part.
#ifndef OFFCPU_PROCESS_ELF_IMAGE_H_
#define OFFCPU_PROCESS_ELF_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

inline constexpr size_t kMaxTableBytes = 128 << 20;   // of one unwind table
inline constexpr size_t kMaxHeaderBytes = 16 << 20;   // of .eh_frame_hdr, with its search table
inline constexpr size_t kMaxDynamicBytes = 64 << 10;  // of one PT_DYNAMIC

// [begin, end) of the process shows the file from `offset` on.
struct FileMapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  bool executable = false;
};

// What a few small reads tell of one load of a file.
struct ElfHead {
  uint64_t bias = 0;   // address in the process minus link-time address, mod 2^64
  uint64_t begin = 0;  // [begin, end) of the process: what the PT_LOADs span, in whole pages
  uint64_t end = 0;
  std::string build_id;
  uint64_t hash = 0;  // of ELF header, program headers and build id: has another object taken its place?
};

struct ElfImage {
  ElfHead head;
  CodeRange dynamic;  // of PT_DYNAMIC, link-time addresses
  Module module;      // without path, content_hash and file
};

// `file`: all mappings of the file in the process, sorted by address; one must show its first bytes. `anchor`: the one
// of them whose load is asked for, since a process may load a file twice and map it as data besides.
absl::StatusOr<ElfHead> ReadElfHead(const Memory& memory, std::span<const FileMapping> file, const FileMapping& anchor);
// A table for which `lease` has no room is left out, see Module::over_budget.
absl::StatusOr<ElfImage> ReadElfImage(const Memory& memory, std::span<const FileMapping> file,
                                      const FileMapping& anchor, MemoryLease lease = {});

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_IMAGE_H_
