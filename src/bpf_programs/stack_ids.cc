#include "bpf_programs/stack_ids.h"

#include <sys/random.h>

#include <cerrno>

#include "bpf_programs/errno_status.h"

namespace offcpu {
namespace {

uint64_t NameOf(wire_hash hash, std::span<const uint64_t> addresses) {
  for (const uint64_t address : addresses) wire_hash_add(&hash, address);
  return wire_hash_end(hash);
}

}  // namespace

// So few bytes come whole.
absl::StatusOr<wire_hash_key> NewHashKey() {
  wire_hash_key key = {};
  ssize_t got = 0;
  do {
    got = getrandom(&key, sizeof(key), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(key))) return ErrnoStatus("the kernel returned no random numbers", errno);
  return key;
}

uint64_t UserStackId(const wire_hash_key& key, uint64_t code_hash, std::span<const uint64_t> pcs) {
  return NameOf(wire_user_stack_begin(key, code_hash), pcs);
}

uint64_t KernelStackId(const wire_hash_key& key, std::span<const uint64_t> frames) {
  return NameOf(wire_hash_begin(key, WIRE_HASH_KERNEL_STACK), frames);
}

}  // namespace offcpu
