// The forms in which kernels have kept the tables that they unwind their own stacks by (ORC): the same entries, with
// registers numbered in another way. A kernel tells its form by a hash of the definition.
#ifndef OFFCPU_BPF_PROGRAMS_ORC_FORMAT_H_
#define OFFCPU_BPF_PROGRAMS_ORC_FORMAT_H_

#include <cstdint>
#include <optional>

#include "bpf/wire.h"

namespace offcpu {

// `header` is the first four bytes of .orc_header, as a little-endian number. None: the form is not known.
std::optional<wire_orc_registers> OrcRegistersOf(uint32_t header);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_ORC_FORMAT_H_
