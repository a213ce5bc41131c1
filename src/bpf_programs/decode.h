// Bytes of one ring record to an Event. Checks everything, keeps no state, needs no libbpf.
#ifndef OFFCPU_BPF_PROGRAMS_DECODE_H_
#define OFFCPU_BPF_PROGRAMS_DECODE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "bpf_programs/events.h"

namespace offcpu {

// Nothing if the bytes are not a whole record of a known type.
std::optional<Event> Decode(std::span<const std::byte> record);

// As many whole wire_mapping as there are in `bytes`.
std::vector<CodeMapping> DecodeMappings(std::span<const std::byte> bytes);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_DECODE_H_
