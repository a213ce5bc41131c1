// One budget of bytes for what is kept because of targets: tables, what is prepared of them, names. Code that wants to
// keep something asks first, in the name of the user who pays for it, and may be refused.
//
// Nobody is made to give back what he has. So that nobody can take it all, a user may hold at most kShare times what is
// left for others after he has got it: one alone three quarters, each of two three sevenths, and there is always some
// for one who has nothing yet. So the one who holds the most is the first to be refused. Thread-safe.
#ifndef OFFCPU_PROCESS_MEMORY_BUDGET_H_
#define OFFCPU_PROCESS_MEMORY_BUDGET_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"

namespace offcpu {

struct MemoryBudgetStats {
  size_t bytes = 0;  // held now
  size_t limit = 0;
  uint64_t refused = 0;      // how often memory was refused
  uid_t dearest = 0;         // who holds the most now
  size_t dearest_bytes = 0;  // and how much
};

class MemoryBudget {
 public:
  static constexpr size_t kShare = 3;

  explicit MemoryBudget(size_t bytes) : limit_(bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  MemoryBudgetStats stats() const;
  // A user who holds more than that keeps it.
  void SetLimit(size_t bytes);

 private:
  friend class MemoryLease;
  bool Take(uid_t owner, size_t bytes);
  void GiveBack(uid_t owner, size_t bytes);

  mutable std::mutex mutex_;
  size_t limit_;  // guarded by mutex_, as what follows is
  size_t bytes_ = 0;
  absl::flat_hash_map<uid_t, size_t> held_;
  uint64_t refused_ = 0;
};

// A part of a budget; given back at the end of its life, which may be after the owner's of the budget. One thread.
class MemoryLease {
 public:
  MemoryLease() = default;  // of no budget: everything is granted
  MemoryLease(std::shared_ptr<MemoryBudget> budget, uid_t owner) : budget_(std::move(budget)), owner_(owner) {}
  MemoryLease(MemoryLease&& other) noexcept;
  MemoryLease& operator=(MemoryLease&& other) noexcept;
  ~MemoryLease() { Shrink(bytes_); }

  // Before the bytes are allocated. False: there is no room for them, and nothing has changed.
  [[nodiscard]] bool Grow(size_t bytes);
  // After they are freed; at most what is held.
  void Shrink(size_t bytes);

  size_t bytes() const { return bytes_; }
  uid_t owner() const { return owner_; }
  // An empty one of the same user.
  MemoryLease Another() const { return MemoryLease(budget_, owner_); }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  uid_t owner_ = 0;
  size_t bytes_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MEMORY_BUDGET_H_
