#include "process/elf/debug_link.h"

#include <climits>
#include <cstring>

namespace offcpu {

// A NUL-terminated file name, padded to four bytes, then the CRC.
std::optional<DebugLink> ReadDebugLink(const ElfFile& elf) {
  const ElfSection* section = elf.Find(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  auto bytes = elf.Read(*section);
  if (!bytes.ok()) return std::nullopt;
  size_t end = bytes->find('\0');
  if (end == std::string::npos || end == 0 || end > NAME_MAX) return std::nullopt;
  DebugLink link = {.name = bytes->substr(0, end), .crc = 0};
  size_t crc_at = (end + 4) & ~size_t{3};
  if (crc_at > bytes->size() || bytes->size() - crc_at < sizeof(link.crc)) return std::nullopt;
  std::memcpy(&link.crc, bytes->data() + crc_at, sizeof(link.crc));
  if (link.name.find('/') != std::string::npos || link.name == "." || link.name == "..") return std::nullopt;
  return link;
}

}  // namespace offcpu
