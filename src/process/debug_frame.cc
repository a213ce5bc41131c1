#include "process/debug_frame.h"

#include <cstdint>
#include <cstring>

#include "process/elf_sections.h"

namespace offcpu {
namespace {

// Anywhere, as long as it is not close to an end of all addresses.
constexpr uint64_t kAddress = uint64_t{1} << 40;

}  // namespace

void MakeEhFrame(std::vector<std::byte>* debug_frame) {
  constexpr uint32_t kExtended = 0xfffffff0;  // and above: lengths that are something else
  constexpr uint32_t kCie = 0xffffffff;
  std::vector<std::byte>& bytes = *debug_frame;
  size_t at = 0;
  for (uint32_t head[2]; bytes.size() - at >= sizeof(head);) {
    std::memcpy(head, &bytes[at], sizeof(head));
    const auto [length, id] = head;
    if (length >= kExtended || length < sizeof(id) || length > bytes.size() - at - sizeof(length)) break;
    const size_t id_at = at + sizeof(length);
    // A CIE that does not come before comes nowhere.
    const uint32_t distance = id == kCie ? 0 : static_cast<uint32_t>(id < id_at ? id_at - id : UINT32_MAX);
    std::memcpy(&bytes[id_at], &distance, sizeof(distance));
    at = id_at + length;
  }
  bytes.resize(at);
}

ModuleTable ReadDebugFrame(const Memory& file) {
  ModuleTable table = {.address = kAddress, .bytes = ReadFileSection(file, ".debug_frame")};
  MakeEhFrame(&table.bytes);
  return table.bytes.empty() ? ModuleTable() : table;
}

}  // namespace offcpu
