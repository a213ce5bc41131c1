// The counters of the BPF programs, the queue and the module cache as named losses, in words for people. Pure
// functions.
#ifndef OFFCPU_PROFILER_DROPS_H_
#define OFFCPU_PROFILER_DROPS_H_

#include <vector>

#include "bpf/wire.h"
#include "capture/programs.h"
#include "process/module_cache.h"
#include "profile/profile.h"
#include "profiler/event_queue.h"

namespace offcpu {

// Only those that happened. `ns` is time that is in no row of the profile.
std::vector<Drop> NameDrops(const Programs::Counters& counters, const EventQueueStats& queue,
                            const ModuleCacheStats& modules, uint64_t oncpu_period_ns = 0);

// Events among them that were lost (not: filtered, delayed, or served in another way).
uint64_t CountLost(const Programs::Counters& counters);

}  // namespace offcpu

#endif  // OFFCPU_PROFILER_DROPS_H_
