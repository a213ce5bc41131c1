// The name of an ELF file's separate debug file, as its .gnu_debuglink gives it. A pure function of the file.
#ifndef OFFCPU_PROCESS_ELF_DEBUG_LINK_H_
#define OFFCPU_PROCESS_ELF_DEBUG_LINK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "process/elf/file.h"

namespace offcpu {

struct DebugLink {
  std::string name;  // of a file, without a directory
  uint32_t crc = 0;  // of all of its bytes
};

// Nothing if there is none, or if it does not name a file.
std::optional<DebugLink> ReadDebugLink(const ElfFile& elf);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_DEBUG_LINK_H_
