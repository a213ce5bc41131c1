// Names (hashes of stacks and of code) of which two contents have come, or a wrong one: nothing that has such a name is
// shown or told any more. A name is a hash of 64 bits under a secret key, so there are next to none. Bounded: when
// there are more, every name is void. Plain data of one thread.
#ifndef OFFCPU_PROFILE_VOID_NAMES_H_
#define OFFCPU_PROFILE_VOID_NAMES_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_set.h"

namespace offcpu {

class VoidNames {
 public:
  static constexpr size_t kMost = 4096;

  void Add(uint64_t name) {
    if (!is_full()) names_.insert(name);
  }
  bool Contains(uint64_t name) const { return is_full() || names_.contains(name); }

 private:
  bool is_full() const { return names_.size() >= kMost; }

  absl::flat_hash_set<uint64_t> names_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_VOID_NAMES_H_
