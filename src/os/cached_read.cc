#include "os/cached_read.h"

#include <sys/uio.h>

#include <cerrno>

namespace offcpu {

CachedRead ReadCached(const OwnedFd& file, uint64_t offset, std::span<std::byte> out) {
  for (size_t done = 0; done < out.size();) {
    const iovec rest = {.iov_base = out.data() + done, .iov_len = out.size() - done};
    const ssize_t read = preadv2(file.get(), &rest, 1, static_cast<off_t>(offset + done), RWF_NOWAIT);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0 && errno == EAGAIN) return CachedRead::kNotInMemory;
    if (read <= 0) return CachedRead::kFailed;
    done += static_cast<size_t>(read);
  }
  return CachedRead::kRead;
}

}  // namespace offcpu
