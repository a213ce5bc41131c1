// A memory of which small pieces are read one after the other: each page is read once, and there is a limit to them.
// What it shows of a page is as old as the first read of it. One thread.
#ifndef OFFCPU_RUNTIMES_PAGED_MEMORY_H_
#define OFFCPU_RUNTIMES_PAGED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "process/memory.h"

namespace offcpu {

class PagedMemory final : public Memory {
 public:
  // `memory` must outlive it. Beyond `max_pages`, none are read.
  PagedMemory(const Memory& memory, size_t max_pages) : memory_(memory), max_pages_(max_pages) {}

  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override;

 private:
  // Null: it cannot be read.
  const std::vector<std::byte>* PageAt(uint64_t begin) const;

  const Memory& memory_;
  const size_t max_pages_;
  mutable absl::flat_hash_map<uint64_t, std::vector<std::byte>> pages_;  // by where they begin; empty: unreadable
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PAGED_MEMORY_H_
