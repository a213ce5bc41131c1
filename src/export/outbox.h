// The requests that wait to be sent: on disk (export/spool.h) or, where the disk does not take them, in memory, which
// is bounded. A request that was kept waits until it is settled or counted as lost. It is never counted as lost and
// delivered, but where spool.h says so.
//
// Any thread; calls but stats() wait for the disk. One sender: the record that Oldest gave last is the one that is
// being sent, until it is settled.
#ifndef OFFCPU_EXPORT_OUTBOX_H_
#define OFFCPU_EXPORT_OUTBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "export/answer_meaning.h"
#include "export/say.h"
#include "export/spool.h"
#include "export/spool_record.h"
#include "profile/profile.h"

namespace offcpu {

struct OutboxLimits {
  SpoolLimits spool;
  size_t memory_bytes = 16u << 20;  // of requests that are not on disk
};

struct OutboxStats {
  uint64_t records = 0;  // that wait
  uint64_t bytes = 0;
  uint64_t oldest_start_unix_ns = 0;  // of the window that is next; 0: none waits
  // Requests with their share of their windows' time, by reason.
  std::vector<Loss> memory_losses;  // since this was made
  std::vector<Loss> spool_losses;   // since the spool was made
};

class Outbox {
 public:
  // `spool`: the spool's directory; empty: there is none. If it cannot be used, that is said, and all waits in memory.
  Outbox(const std::string& spool, const OutboxLimits& limits, Say say);

  // The oldest in memory are lost to make room, but not the one that is being sent.
  void Keep(SpoolRecord record);

  // Those in memory are newer than those on disk.
  std::optional<SpoolRecord> Oldest();

  // `record` is the one that is being sent. After kLater it waits on, else it is gone: refused, it is counted as lost.
  void Settle(const SpoolRecord& record, Fate fate);

  // What is in memory goes to the disk, which may have become well again; what the disk does not take even now is lost.
  // None of the others but stats() after it.
  void Close();

  OutboxStats stats() const;

 private:
  bool IsSpooled(const SpoolRecord& record);
  void KeepInMemory(SpoolRecord record);
  void SettleInMemory(const SpoolRecord& record, Fate fate);
  void DropFromMemoryLocked();
  void RemoveFromMemoryLocked(std::deque<SpoolRecord>::const_iterator record);

  const OutboxLimits limits_;
  const Say say_;
  const std::unique_ptr<Spool> spool_;  // null: none

  mutable std::mutex mutex_;
  absl::StatusCode spool_error_ = absl::StatusCode::kOk;  // guarded by mutex_, as what follows is
  std::deque<SpoolRecord> memory_;                        // newer than what is on disk
  size_t memory_bytes_ = 0;
  uint64_t memory_records_ = 0;  // ever
  uint64_t sending_ = 0;         // number of the record in memory that is being sent
  std::vector<Loss> losses_;     // beside the spool's
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_OUTBOX_H_
