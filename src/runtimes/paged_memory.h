// A memory of which small pieces are read one after the other: each page is read once, and there is a limit to them,
// and to what is read of them. What it shows of a page is as old as the first read of it. One thread.
#ifndef OFFCPU_RUNTIMES_PAGED_MEMORY_H_
#define OFFCPU_RUNTIMES_PAGED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "process/memory.h"

namespace offcpu {

struct PagedMemoryLimits {
  size_t pages = 2048;      // that are read
  size_t reads = 1u << 19;  // of pages that are there already, too; kBytesOfRead more of a long read count as another
};

class PagedMemory final : public Memory {
 public:
  static constexpr size_t kBytesOfRead = 64;

  // `memory` must outlive it.
  explicit PagedMemory(const Memory& memory, const PagedMemoryLimits& limits = {}) : memory_(memory), limits_(limits) {}

  // False beyond the limits, too.
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override;
  // Was something not read because of a limit? Then nothing that failed says anything of the process.
  bool is_spent() const { return is_spent_; }

 private:
  // Null: it cannot be read.
  const std::vector<std::byte>* PageAt(uint64_t begin) const;

  const Memory& memory_;
  const PagedMemoryLimits limits_;
  mutable absl::flat_hash_map<uint64_t, std::vector<std::byte>> pages_;  // by where they begin; empty: unreadable
  mutable size_t reads_ = 0;
  mutable bool is_spent_ = false;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PAGED_MEMORY_H_
