// The values of an array map that BPF programs share with this process (BPF_F_MMAPABLE), as memory. Both sides may read
// and write at any time.
#ifndef OFFCPU_BPF_PROGRAMS_MAPPED_ARRAY_H_
#define OFFCPU_BPF_PROGRAMS_MAPPED_ARRAY_H_

#include <bpf/libbpf.h>
#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <utility>

namespace offcpu {

template <typename T>
class MappedArray {
 public:
  // Empty, with errno set, if it cannot be mapped.
  static MappedArray Of(const bpf_map* map) {
    MappedArray array;
    const size_t count = bpf_map__max_entries(map);
    void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
    if (memory != MAP_FAILED) array.all_ = {static_cast<T*>(memory), count};
    return array;
  }
  MappedArray() = default;
  ~MappedArray() {
    if (!all_.empty()) munmap(all_.data(), all_.size_bytes());
  }
  MappedArray(MappedArray&& other) noexcept : all_(std::exchange(other.all_, {})) {}
  MappedArray& operator=(MappedArray&& other) noexcept {
    std::swap(all_, other.all_);
    return *this;
  }

  std::span<T> all() const { return all_; }

 private:
  std::span<T> all_;
};

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_MAPPED_ARRAY_H_
