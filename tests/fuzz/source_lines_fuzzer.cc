// A whole ELF file with debug information: whatever it claims, there is an answer, with a chain for each address that
// is not too long. libdw does not survive every file, which is why it runs confined, here as always.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "source_lines/source_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  static const int fd = memfd_create("input", MFD_CLOEXEC);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  std::vector<uint64_t> addresses;
  for (uint64_t address = 0x1000; address < 0x1100; ++address) addresses.push_back(address);
  const SourceLines lines = ReadSourceLines({.file = fd}, addresses, {}, {.max_entries = 10'000, .max_units = 100});
  if (lines.chains.size() != addresses.size()) std::abort();
  for (const LineChain& chain : lines.chains) {
    if (chain.size() > kMaxInlined) std::abort();
  }
  return 0;
}
