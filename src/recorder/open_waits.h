// The waits that a window ends in the middle of: their part in it, of the kind `open`.
#ifndef OFFCPU_RECORDER_OPEN_WAITS_H_
#define OFFCPU_RECORDER_OPEN_WAITS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "bpf_programs/events.h"
#include "bpf_programs/selection.h"
#include "bpf_programs/stack_ids.h"
#include "bpf_programs/waiting_thread.h"
#include "profile/ledger.h"
#include "profile/profile.h"
#include "recorder/reported_waits.h"
#include "recorder/wait_part.h"

namespace offcpu {

struct OpenWaits {
  std::vector<KernelStackEvent> kernel_stacks;
  std::vector<IntervalEvent> intervals;  // user stacks come by the live path
  uint64_t sleepers = 0;                 // threads that waited throughout and were only to be counted
  Loss filtered;                         // too short so far, too long, or of another kind
  Loss missed;                           // lies in an earlier window, at whose end nothing was known of it
};

struct OpenWaitsConfig : WaitSelection {
  bool show_sleepers = true;
};

// Why a wait that is still open is left out; nothing if it is reported.
std::optional<LostTime> WhyLeftOut(const OpenWait& open, const OpenWaitsConfig& config);

// Did it begin before the window, which began at `window_begin_ns` (scheduler's clock, 0: with the recording)?
bool IsThroughout(const OpenWait& open, uint64_t window_begin_ns);

// `first` was listed right after the window's end, `last` when nothing could be recorded any more: it tells the times,
// because a wait of `first` may have ended in time to be recorded. Where recording goes on they are the same, without
// those who came back. Kernel stacks are named under `key`, as by the BPF programs. `reported` gets what is added, and
// what is left out under a name.
OpenWaits CloseOpenWaits(uint64_t window_begin_ns, const std::vector<WaitingThread>& first,
                         const std::vector<WaitingThread>& last, const OpenWaitsConfig& config,
                         const wire_hash_key& key, ReportedWaits& reported);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_OPEN_WAITS_H_
