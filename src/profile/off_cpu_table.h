// Sums of intervals by process, thread (where they are told apart), thread name, kernel stack, user stack, kind of
// wait, system call and waker, and the names that they share. Made for one recording or one window of it; Finish turns
// it into the immutable Profile. One thread; no I/O.
//
// Every table is capped. A row beyond the cap adds to one overflow row, so that no time is lost; processes and thread
// names beyond theirs are called "[other]", as are chains of wakers.
#ifndef OFFCPU_PROFILE_OFF_CPU_TABLE_H_
#define OFFCPU_PROFILE_OFF_CPU_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profile/interval.h"
#include "profile/profile.h"
#include "profile/stack_table.h"

namespace offcpu {

class OffCpuTable {
 public:
  struct Limits {
    size_t rows = 1u << 20;
    size_t processes = 1u << 16;
    size_t comms = 1u << 16;
    size_t wakers = 1u << 17;
  };

  explicit OffCpuTable(const Limits& limits) : limits_(limits) {}

  // The index of `info.key`. A later call fills in the name and the container that an earlier one left empty.
  uint32_t InternProcess(const ProcessInfo& info);
  uint32_t InternComm(std::string_view comm);
  // What ProfileRow::waker says of it. The chain is not empty.
  uint32_t InternWaker(const WakerChain& chain);

  void Add(const Interval& interval, uint32_t user_stack) { Add(RowOf(interval, user_stack)); }
  // The sums of any number of intervals at once.
  void Add(const ProfileRow& row);

  // The row of one interval.
  static ProfileRow RowOf(const Interval& interval, uint32_t user_stack);
  // Adds the sums of `from` to `to`; the keys of both are the same, or do not matter.
  static void AddSums(const ProfileRow& from, ProfileRow& to);

  size_t rows() const { return rows_.size(); }

  // Rows sorted by their key; `stacks` must be the table whose indices the rows carry. To `stats.drops` it adds the
  // time without a user stack by reason, that of undefined kernel stacks, and what overflowed. Ends this table and
  // `stacks`.
  Profile Finish(StackTable& stacks, ProfileStats stats);

 private:
  using Key = std::tuple<uint32_t, int32_t, uint32_t, uint32_t, uint32_t, WaitKind, int32_t, uint32_t>;

  // The entry of all that found no place: the last one, made when it is first needed and the table takes no more.
  uint32_t OtherProcess();
  uint32_t OtherComm();
  uint64_t ProcessesWithRows(const std::vector<ProfileRow>& rows) const;
  static void AddWakerDrops(Profile& profile);
  void AddDrops(const StackTable& stacks, Profile& profile) const;

  Limits limits_;
  absl::flat_hash_map<Key, ProfileRow> rows_;
  ProfileRow overflow_;
  absl::flat_hash_map<ProcessKey, uint32_t> process_index_;
  std::vector<ProcessInfo> processes_;
  uint64_t process_overflows_ = 0;
  absl::flat_hash_map<std::string, uint32_t> comm_index_;
  std::vector<std::string> comms_;
  uint64_t comm_overflows_ = 0;
  absl::flat_hash_map<WakerChain, uint32_t> waker_index_;  // plus 1
  std::vector<WakerChain> wakers_;
  uint64_t waker_overflows_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_OFF_CPU_TABLE_H_
