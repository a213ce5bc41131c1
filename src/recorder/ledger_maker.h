// Makes the ledger of a recording out of the accounts of its threads. The worker adds those that are closed while
// recording; the rest is known when it has ended. Does not look at the profile's rows. Bounded in threads: those beyond
// the cap are counted.
#ifndef OFFCPU_RECORDER_LEDGER_MAKER_H_
#define OFFCPU_RECORDER_LEDGER_MAKER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/account.h"
#include "bpf_programs/event_queue.h"
#include "bpf_programs/waiting_thread.h"
#include "profile/profile.h"
#include "recorder/open_waits.h"

namespace offcpu {

class LedgerMaker {
 public:
  explicit LedgerMaker(size_t max_threads) : max_threads_(max_threads) {}

  void Add(ThreadAccount account);
  // Where the threads that went on were when the recording ended.
  void AddWaits(const std::vector<WaitingThread>& threads, const OpenWaitsConfig& config);
  // Intervals that the programs have booked and the profile does not have.
  void AddDropped(const EventQueueStats& queue);
  // Puts the entries into `profile`, by process and thread; with them processes that have no rows. Ends the ledger.
  void Finish(const RecordedSpan& span, Profile& profile);

 private:
  using ThreadKey = std::pair<ProcessKey, int32_t>;

  LedgerEntry EntryOf(const ThreadAccount& account, const RecordedSpan& span) const;
  void BookLastStretch(const ThreadAccount& account, const RecordedSpan& span, LedgerEntry& entry) const;
  void MoveDropped(const ThreadKey& thread, LedgerEntry& entry) const;

  const size_t max_threads_;
  std::vector<ThreadAccount> accounts_;
  uint64_t over_limit_ = 0;
  struct LastWait {
    OpenWait wait;
    std::optional<LostTime> loss;  // why it is left out
  };
  absl::flat_hash_map<ThreadKey, LastWait> waits_;
  absl::flat_hash_map<ThreadKey, DroppedTime> dropped_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_LEDGER_MAKER_H_
