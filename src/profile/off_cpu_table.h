// Sums of intervals by RowKey, and the names that rows share. Made for one recording or one window of it; Finish turns
// it into a Profile. One thread; no I/O.
//
// Every table is capped. A row beyond the cap adds to one overflow row, so that no time is lost; processes and thread
// names beyond theirs are called "[other]", as are chains of wakers.
#ifndef OFFCPU_PROFILE_OFF_CPU_TABLE_H_
#define OFFCPU_PROFILE_OFF_CPU_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profile/profile.h"
#include "profile/stack_table.h"
#include "profile/time_table.h"

namespace offcpu {

class OffCpuTable {
 public:
  struct Limits {
    size_t rows = 1u << 20;
    size_t processes = 1u << 16;
    size_t comms = 1u << 16;
    size_t wakers = 1u << 17;
    size_t control_group_bytes = 1u << 20;  // of their paths: who owns a part of the hierarchy chooses names there
    size_t time_buckets = TimeTable::kMaxBuckets;
    uint64_t bucket_ns = TimeTable::kSecondNs;
  };

  explicit OffCpuTable(const Limits& limits)
      : limits_(limits), times_(limits.time_buckets, TimeTable::ShiftOf(limits.bucket_ns)) {}

  // The index of `info.key`. A later call fills in what an earlier one left empty.
  uint32_t InternProcess(const ProcessInfo& info);
  uint32_t InternComm(std::string_view comm);
  // What RowKey::control_group says of a path; 0 for an empty one, and for those that found no place.
  uint32_t InternControlGroup(std::string_view path);
  // What RowKey::waker says of it. The chain is not empty.
  uint32_t InternWaker(const WakerChain& chain);

  // The sums of any number of intervals at once, and where they lie.
  void Add(const ProfileRow& row, std::span<const Stretch> when = {});

  size_t rows() const { return rows_.size(); }
  // Buckets of time never become narrower.
  uint64_t bucket_ns() const { return times_.bucket_ns(); }

  // Rows sorted by their key; `stacks` must be the table whose indices the rows carry. To `stats.losses` it adds the
  // time without a user stack by reason, that of undefined kernel stacks, and what overflowed. Bucket 0 of the times
  // begins at an instant of the scheduler's clock. Ends this table and `stacks`.
  Profile Finish(StackTable& stacks, ProfileStats stats);

 private:
  // The entry of all that found no place: the last one, made when it is first needed and the table takes no more.
  uint32_t OtherProcess();
  uint32_t OtherComm();
  RowKey OverflowKey(StackTable& stacks);
  std::string TimesOf(uint32_t number, const RowSums& sums, uint32_t first) const;
  uint64_t ProcessesWithRows(const std::vector<ProfileRow>& rows) const;
  static void FillContainers(Profile& profile);
  static void AddWakerLosses(Profile& profile);
  void AddLosses(const StackTable& stacks, Profile& profile) const;

  struct Cell {
    RowSums sums;
    uint32_t number = 0;  // in times_
  };

  Limits limits_;
  TimeTable times_;
  absl::flat_hash_map<RowKey, Cell> rows_;
  Cell overflow_ = {.sums = {}, .number = times_.AddRow()};
  absl::flat_hash_map<ProcessKey, uint32_t> process_index_;
  std::vector<ProcessInfo> processes_;
  uint64_t process_overflows_ = 0;
  absl::flat_hash_map<std::string, uint32_t> comm_index_;
  std::vector<std::string> comms_;
  uint64_t comm_overflows_ = 0;
  absl::flat_hash_map<WakerChain, uint32_t> waker_index_;  // plus 1
  std::vector<WakerChain> wakers_;
  uint64_t waker_overflows_ = 0;
  absl::flat_hash_map<std::string, uint32_t> control_group_index_;  // plus 1
  std::vector<std::string> control_groups_;
  size_t control_group_bytes_ = 0;
  uint64_t control_group_overflows_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_OFF_CPU_TABLE_H_
