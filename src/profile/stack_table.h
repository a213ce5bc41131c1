// Gives every distinct user stack and every kernel stack id a dense index, for as long as one profile is being made.
// What finds no place below a cap shares one overflow entry, shown as "[other]". One thread; no I/O.
//
// User stacks are equal if the code of all their frames and their end are, however the frames were found: the first way
// is kept. A hash never decides. Kernel stacks are equal if the ids that the BPF side made are; their frames may come
// before the first use of the id, after it, or never.
#ifndef OFFCPU_PROFILE_STACK_TABLE_H_
#define OFFCPU_PROFILE_STACK_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "profile/profile.h"

namespace offcpu {

// Hashes what IsSameStack compares, but for the end.
struct UserStackHash {
  size_t operator()(const UserStack& stack) const;
};

class StackTable {
 public:
  struct Limits {
    size_t user_stacks = 1u << 17;
    size_t kernel_stacks = 1u << 16;
  };

  explicit StackTable(const Limits& limits);
  StackTable(const StackTable&) = delete;
  StackTable& operator=(const StackTable&) = delete;

  // Keeps the code objects of the frames alive: each must be owned by a shared_ptr.
  uint32_t InternUser(const UserStack& stack);
  // The entry of intervals that have no user stack; `reason` is not kNone. Not subject to the cap.
  uint32_t InternMissing(NoUserStack reason);

  // What an index of the two calls above stands for. Valid until the next of them.
  const UserStackEntry& user(uint32_t index) const { return user_[index]; }

  uint32_t InternKernel(uint64_t id);
  // The entry of samples that were taken in user mode. Not subject to the cap.
  uint32_t InternUserMode();
  bool HasKernel(uint64_t id) const { return kernel_index_.contains(id); }
  // Addresses leaf first. False: it is defined with others, which stay.
  bool DefineKernel(uint64_t id, std::span<const uint64_t> addresses);
  // Nobody knows its addresses after all.
  void UndefineKernel(uint64_t id);

  uint32_t UserOverflow();
  uint32_t KernelOverflow();

  // How often a stack was asked for that found no place.
  uint64_t user_overflows() const { return user_overflows_; }
  uint64_t kernel_overflows() const { return kernel_overflows_; }

  // Moves everything into the profile; the table must not be used afterwards.
  void MoveTo(Profile& profile);

 private:
  // Sets hold indices and compare what they stand for, so that each stack is stored once.
  struct Hash {
    using is_transparent = void;
    const std::vector<UserStackEntry>* entries;
    size_t operator()(uint32_t index) const { return (*this)((*entries)[index].stack); }
    size_t operator()(const UserStack& stack) const { return UserStackHash()(stack); }
  };
  struct Equal {
    using is_transparent = void;
    const std::vector<UserStackEntry>* entries;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, const UserStack& b) const { return IsSameStack((*entries)[a].stack, b); }
  };

  uint32_t AddUser(UserStackEntry entry);
  // The index of `id`, newly given if there is room; nothing beyond the cap.
  std::optional<uint32_t> FindOrAddKernel(uint64_t id);
  void Keep(const Frame& frame);

  Limits limits_;
  std::vector<UserStackEntry> user_;
  absl::flat_hash_set<uint32_t, Hash, Equal> user_index_;  // of those with frames
  std::array<std::optional<uint32_t>, kNoUserStackCount> missing_ = {};
  std::optional<uint32_t> user_overflow_;
  std::vector<KernelStack> kernel_;
  absl::flat_hash_map<uint64_t, uint32_t> kernel_index_;
  std::optional<uint32_t> kernel_overflow_;
  std::optional<uint32_t> user_mode_;
  absl::flat_hash_map<const CodeObject*, std::shared_ptr<const CodeObject>> code_;
  uint64_t user_overflows_ = 0;
  uint64_t kernel_overflows_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_STACK_TABLE_H_
