// Puts together what was lost before the pipeline: adds what the queue and the module cache have counted to the losses
// of the BPF programs (bpf_programs/counters.h). What losses are called is in profile/losses.h. Pure functions.
#ifndef OFFCPU_RECORDER_NAMED_LOSSES_H_
#define OFFCPU_RECORDER_NAMED_LOSSES_H_

#include <cstdint>
#include <vector>

#include "bpf_programs/counters.h"
#include "bpf_programs/event_queue.h"
#include "process/module_cache.h"
#include "profile/profile.h"

namespace offcpu {

// Only those that happened. `ns` is time that is in no row of the profile.
std::vector<Loss> NameLosses(const Counters& counters, const EventQueueStats& queue, const ModuleCacheStats& modules,
                             uint64_t oncpu_period_ns = 0);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_NAMED_LOSSES_H_
