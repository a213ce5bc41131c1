// The names of stacks as the BPF programs make them, and the key of a recording that they are made under. See
// wire_hash.h.
#ifndef OFFCPU_BPF_PROGRAMS_STACK_IDS_H_
#define OFFCPU_BPF_PROGRAMS_STACK_IDS_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "bpf/wire.h"

namespace offcpu {

// 128 random bits of the kernel's. Only the BPF programs receive them.
absl::StatusOr<wire_hash_key> NewHashKey();

// Names a stack by the addresses of its frames, leaf first, and the code that is mapped.
uint64_t UserStackId(const wire_hash_key& key, uint64_t code_hash, std::span<const uint64_t> pcs);
// Names a stack by its frames, leaf first.
uint64_t KernelStackId(const wire_hash_key& key, std::span<const uint64_t> frames);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_STACK_IDS_H_
