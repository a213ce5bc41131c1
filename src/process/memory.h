// Bytes at addresses: a running process, a captured piece of its stack, or a test's array. The one seam below the
// unwinder. Implementations never fault, and a failed read says nothing about the bytes around it.
#ifndef OFFCPU_PROCESS_MEMORY_H_
#define OFFCPU_PROCESS_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace offcpu {

class Memory {
 public:
  virtual ~Memory() = default;

  // Fills `out` with the bytes at [address, address + out.size()). False if any of them cannot be read; `out` is then
  // unspecified.
  [[nodiscard]] virtual bool Read(uint64_t address, std::span<std::byte> out) const = 0;

  template <typename T>
  [[nodiscard]] std::optional<T> ReadValue(uint64_t address) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!Read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
};

// Bytes of ours standing for those at [base, base + bytes.size()). Does not own them.
class SpanMemory final : public Memory {
 public:
  SpanMemory(uint64_t base, std::span<const std::byte> bytes) : base_(base), bytes_(bytes) {}
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override {
    if (address < base_ || address - base_ > bytes_.size() || bytes_.size() - (address - base_) < out.size()) {
      return false;
    }
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + (address - base_), out.size());
    return true;
  }
  // As of any memory, without a virtual call: every walked frame reads words.
  template <typename T>
  [[nodiscard]] std::optional<T> ReadValue(uint64_t address) const {
    T value;
    if (!SpanMemory::Read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }

 private:
  uint64_t base_;
  std::span<const std::byte> bytes_;
};

// The bytes of an open file at their offsets. Does not own the descriptor; the file may be cut at any time.
class FileMemory final : public Memory {
 public:
  explicit FileMemory(int fd) : fd_(fd) {}
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override;

 private:
  int fd_;
};

// The memory of a running process, by process_vm_readv. Needs CAP_SYS_PTRACE or the same user. A read may block for as
// long as the target likes (userfaultfd, a hung file system), so it belongs on a reader thread: see reader_threads.h.
class ProcessMemory final : public Memory {
 public:
  explicit ProcessMemory(pid_t pid) : pid_(pid) {}
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override;
  // Fills the front of `out`, as far as there is memory: returns how much.
  [[nodiscard]] size_t ReadSome(uint64_t address, std::span<std::byte> out) const;

 private:
  pid_t pid_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MEMORY_H_
