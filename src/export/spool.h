// Windows that wait on disk for a collector, bounded in bytes, number and age. One file a record, in a directory of
// their own, so that whatever kills the process or the machine leaves whole records or none (spool_record.h has the
// form). What is lost is counted, over restarts too (spool_losses.h), before it is removed.
//
//   00000000000000000042.record   one that waits; the lowest number is the oldest
//   losses                        what was lost so far
//   refused/                      the last few that no collector takes, and those that are damaged, to be looked at
//   *.tmp                         of the two above, not complete: removed when the spool is opened
//
// Nothing else in the directory is touched, and no symbolic link is followed. One process at a time.
//
// A record may be delivered twice, if the process ends after the collector took it and before Done; it is never counted
// as lost and delivered, unless that happens to the last one that was dropped (below).
//
// Any thread; calls wait for the disk and for each other, stats() for neither. One sender: the record that Oldest gave
// last is the one that is being sent, until the next call of it. Append may drop that one, too. The next call says what
// it was: Done, and nothing was lost; SetAside, and it was refused; another Oldest, and it was dropped. Until then
// stats() does not count it, but a process that starts after a kill does.
#ifndef OFFCPU_EXPORT_SPOOL_H_
#define OFFCPU_EXPORT_SPOOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "export/spool_files.h"
#include "export/spool_losses.h"
#include "export/spool_record.h"
#include "export/spool_time.h"
#include "os/owned_fd.h"

namespace offcpu {

struct SpoolLimits {
  uint64_t bytes = 256ull << 20;  // of records, as long as their files are; 64 MiB in refused/ are not among them
  size_t records = 100'000;
  uint64_t age_ns = 24ull * 3600 * 1'000'000'000;  // of waiting: see WaitedNs
};

struct SpoolStats {
  uint64_t records = 0;
  uint64_t bytes = 0;
  uint64_t oldest_start_unix_ns = 0;  // of the window that is next; 0: none waits
  SpoolLosses lost;
};

class Spool {
 public:
  // Makes the directory, but not those above it. FailedPrecondition while it is another's. A full disk is no error
  // here.
  static absl::StatusOr<std::unique_ptr<Spool>> Open(const std::string& directory, const SpoolLimits& limits);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // On the disk when it returns Ok; the record's number does not matter. Losses the oldest to make room. What could not
  // be appended is counted, too: over bytes where it would not fit an empty spool, else not written. The latter is not
  // reported while its owner still has it: until one of the two calls below.
  absl::Status Append(const SpoolRecord& record, const SpoolTime& now);

  // The next one to be sent, whole and checked. Those that are too old or damaged are lost on the way. Nothing, too,
  // where it cannot be read now for want of descriptors or memory.
  std::optional<SpoolRecord> Oldest(const SpoolTime& now);

  // It was delivered. For a number that is gone: see above.
  void Done(uint64_t number);
  // It is no loss, though it could not be appended and was counted as not written.
  void DeliveredUnwritten(const SpoolRecord& record);
  // Its owner has it no more. Does not wait for the disk.
  void LostUnwritten(const SpoolRecord& record);
  // No collector will ever take it.
  void SetAside(uint64_t number);

  SpoolStats stats() const;

 private:
  struct Entry {
    uint64_t bytes = 0;
    uint64_t start_unix_ns = 0;
    uint64_t share_ns = 0;  // of its window
    SpoolTime appended;
  };
  using Entries = std::map<uint64_t, Entry>;
  // A record that was dropped while it was being sent.
  struct Undecided {
    uint64_t number = 0;
    SpoolLoss loss = SpoolLoss::kOverBytes;
    uint64_t share_ns = 0;
  };

  Spool(std::string path, LockedDirectory directory, const SpoolLimits& limits)
      : path_(std::move(path)),
        directory_(std::move(directory.fd)),
        lock_(std::move(directory.lock)),
        limits_(limits) {}

  absl::Status ReadLosses();
  absl::Status FindRecords();
  absl::Status FindRecord(uint64_t number);
  absl::Status AppendLocked(const SpoolRecord& record, const SpoolTime& now);
  absl::Status WriteLocked(const SpoolRecord& record, const SpoolTime& now);
  std::optional<SpoolRecord> OldestLocked(const SpoolTime& now);

  void Count(SpoolLoss loss, uint64_t ns);
  void DecideTaken();
  void DropTooOld(const SpoolTime& now);
  void MakeRoom(uint64_t bytes, size_t records);
  // Those before `end`, oldest first.
  void DropUntil(Entries::const_iterator end, SpoolLoss loss);
  // One that can be looked at afterwards.
  void LoseAside(uint64_t number, SpoolLoss loss, uint64_t ns);
  void Forget(Entries::const_iterator entry);
  absl::Status Save();
  void Publish();

  const std::string path_;
  const OwnedFd directory_;
  const OwnedFd lock_;
  std::mutex mutex_;  // held while the disk is waited for
  const SpoolLimits limits_;
  Entries entries_;
  uint64_t bytes_ = 0;
  std::optional<uint64_t> first_boot_ns_;  // of the first time that somebody gave
  uint64_t taken_ = 0;                     // number of the record that is being sent; 0: none
  std::optional<Undecided> undecided_;     // it, if it is gone
  SpoolLedger ledger_;                     // without the undecided one
  bool knows_losses_ = false;              // those of the file are in it
  bool is_saved_ = false;                  // else the file does not say what ledger_ does

  mutable std::mutex stats_mutex_;
  SpoolStats stats_;
  SpoolLost unwritten_;  // counted in ledger_ and not reported: their owners have them. Guarded by stats_mutex_
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_SPOOL_H_
