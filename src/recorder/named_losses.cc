#include "recorder/named_losses.h"

#include "profile/losses.h"

namespace offcpu {

std::vector<Loss> NameLosses(const Counters& counters, const EventQueueStats& queue, const ModuleCacheStats& modules,
                             uint64_t oncpu_period_ns) {
  std::vector<Loss> losses = NameCounters(counters);
  const auto add = [&losses](LossId loss, uint64_t count, uint64_t ns) {
    if (count != 0) losses.push_back(LossOf(loss, count, ns));
  };
  add(LossId::kQueueIntervals, queue.intervals_dropped, queue.interval_ns_dropped);
  add(LossId::kQueueCaptures, queue.captures_dropped, 0);
  add(LossId::kQueueSamples, queue.samples_dropped, queue.samples_dropped * oncpu_period_ns);
  for (size_t i = 1; i < modules.files_refused.size(); ++i) {
    const uint64_t count = modules.files_refused[i];
    if (count != 0) losses.push_back({.reason = LossName(static_cast<FileRefusal>(i)), .count = count});
  }
  add(LossId::kModuleUnreadable, modules.unreadable, 0);
  add(LossId::kMemoryShare, modules.memory_refused, 0);
  add(LossId::kMappingLeftOut, modules.mappings_left_out, 0);
  add(LossId::kModuleTables, modules.over_limit, 0);
  add(LossId::kModuleFile, modules.over_file_limit, 0);
  add(LossId::kTableTooLarge, modules.too_large, 0);
  add(LossId::kRuntimeUnknown, modules.unknown_runtimes, 0);
  return losses;
}

}  // namespace offcpu
