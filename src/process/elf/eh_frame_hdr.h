// Where .eh_frame_hdr says that .eh_frame is. A pure function of the bytes; safe from any thread. The search table
// behind it is not used: it is not needed once every entry has been checked.
#ifndef OFFCPU_PROCESS_ELF_EH_FRAME_HDR_H_
#define OFFCPU_PROCESS_ELF_EH_FRAME_HDR_H_

#include <cstdint>
#include <optional>

#include "process/module.h"

namespace offcpu {

// The link-time address, nothing if the header is damaged or uses an encoding that no linker writes.
std::optional<uint64_t> EhFrameAddress(const ModuleTable& eh_frame_hdr);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_EH_FRAME_HDR_H_
