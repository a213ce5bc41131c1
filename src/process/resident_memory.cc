#include "process/resident_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr uint64_t kPresent = uint64_t{1} << 63;  // of an entry of pagemap

}  // namespace

ResidentMemory::ResidentMemory(pid_t pid)
    : memory_(pid), pagemap_(open(absl::StrCat("/proc/", pid, "/pagemap").c_str(), O_RDONLY | O_CLOEXEC)) {}

bool ResidentMemory::IsResident(uint64_t address, size_t bytes) const {
  if (bytes == 0 || address + bytes < address) return false;
  const FileMemory entries(pagemap_.get());
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (uint64_t page = address / page_bytes; page <= (address + bytes - 1) / page_bytes; ++page) {
    const std::optional<uint64_t> entry = entries.ReadValue<uint64_t>(page * sizeof(uint64_t));
    if (!entry.has_value() || (*entry & kPresent) == 0) return false;
  }
  return true;
}

bool ResidentMemory::Read(uint64_t address, std::span<std::byte> out) const {
  return pagemap_ && IsResident(address, out.size()) && memory_.Read(address, out);
}

}  // namespace offcpu
