// Reads the part of a file that is in the page cache: never waits for a disk, a server, or anybody who may hang. Safe
// from any thread.
#ifndef OFFCPU_OS_CACHED_READ_H_
#define OFFCPU_OS_CACHED_READ_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "os/owned_fd.h"

namespace offcpu {

enum class CachedRead : uint8_t {
  kRead,         // all that was asked for
  kNotInMemory,  // now; later it may be
  kFailed,       // the file is not as long, or its file system cannot read without waiting
};

CachedRead ReadCached(const OwnedFd& file, uint64_t offset, std::span<std::byte> out);

}  // namespace offcpu

#endif  // OFFCPU_OS_CACHED_READ_H_
