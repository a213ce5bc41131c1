#include "process/memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace offcpu {

bool FileMemory::Read(uint64_t address, std::span<std::byte> out) const {
  if (address > INT64_MAX || out.size() > INT64_MAX - address) return false;
  while (!out.empty()) {
    const ssize_t n = pread(fd_, out.data(), out.size(), static_cast<off_t>(address));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    out = out.subspan(static_cast<size_t>(n));
    address += static_cast<uint64_t>(n);
  }
  return true;
}

bool ProcessMemory::Read(uint64_t address, std::span<std::byte> out) const {
  return ReadSome(address, out) == out.size();
}

size_t ProcessMemory::ReadSome(uint64_t address, std::span<std::byte> out) const {
  if (address + out.size() < address) return 0;
  // The kernel may stop short of a range it can read in full.
  size_t done = 0;
  while (done < out.size()) {
    iovec local = {out.data() + done, out.size() - done};
    iovec remote = {reinterpret_cast<void*>(address + done), out.size() - done};
    ssize_t n = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace offcpu
