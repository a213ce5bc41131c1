#include "bpf_programs/orc_format.h"

namespace offcpu {
namespace {

struct OrcFormat {
  uint32_t header;
  wire_orc_registers registers;
};

// Those that have been seen: of 6.19 to 7.1 none has.
constexpr OrcFormat kFormats[] = {
    // 6.12 to 6.18: fe 5d 32 bf 58 1b d6 3b 2c a9 a5 c6 5b a5 a6 25 ea b3 fe 24
    {0xbf325dfe, {.sp = 5, .prev_sp = 1, .bp_indirect = 8, .reserved = 0}},
    // 7.2 and 7.3: 13 7c 36 ad 76 27 c4 dd 55 93 21 76 bb 0e cd bd 50 41 fc 82
    {0xad367c13, {.sp = 3, .prev_sp = 8, .bp_indirect = 10, .reserved = 0}},
};

}  // namespace

std::optional<wire_orc_registers> OrcRegistersOf(uint32_t header) {
  for (const OrcFormat& format : kFormats) {
    if (format.header == header) return format.registers;
  }
  return std::nullopt;
}

}  // namespace offcpu
