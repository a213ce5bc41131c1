// What .eh_frame_hdr says of .eh_frame: where it is, and by its search table where the entry of each function is. Pure
// functions of the bytes; safe from any thread. Does not check the entries.
#ifndef OFFCPU_PROCESS_ELF_EH_FRAME_HDR_H_
#define OFFCPU_PROCESS_ELF_EH_FRAME_HDR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "process/module.h"

namespace offcpu {

// The link-time address, nothing if the header is damaged or uses an encoding that no linker writes.
std::optional<uint64_t> EhFrameAddress(const ModuleTable& eh_frame_hdr);

// The search table: what the runtimes of languages go by. A view of the bytes of the header.
class EhFrameSearch {
 public:
  struct Entry {
    uint64_t begin = 0;  // of the function; link-time address, as the next one
    uint64_t fde = 0;    // its entry in .eh_frame
  };

  // Empty if there is none, or in a form that no linker writes. Of one that is cut off, what is there.
  static EhFrameSearch Of(const ModuleTable& eh_frame_hdr);

  size_t size() const { return entries_.size() / kEntryBytes; }
  Entry At(size_t index) const;

 private:
  static constexpr size_t kEntryBytes = 8;

  uint64_t base_ = 0;  // what its numbers are relative to
  std::span<const std::byte> entries_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_EH_FRAME_HDR_H_
