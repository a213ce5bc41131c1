#include "profiler/record_config.h"

#include <chrono>

#include "capture/kernel.h"
#include "capture/programs.h"
#include "profiler/open_waits.h"
#include "profiler/pipeline.h"

namespace offcpu {

uint64_t OnCpuPeriodNs(const RecordConfig& config) {
  return config.oncpu_hz == 0 ? 0 : 1'000'000'000 / config.oncpu_hz;
}

OpenWaitsConfig OpenWaitsConfigOf(const RecordConfig& config) {
  return {.show_sleepers = config.show_sleepers,
          .min_wait_ns = config.min_wait_ns,
          .max_wait_ns = config.max_wait_ns,
          .kinds = config.kinds};
}

ProgramsConfig ProgramsConfigOf(const RecordConfig& config) {
  return {.pids = config.pids,
          .tids = config.tids,
          .cgroups = config.cgroups,
          .comms = config.comms,
          .command = config.command,
          .follow_forks = config.follow_forks,
          .uids = config.uids,
          .excluded_pids = config.excluded_pids,
          .excluded_cgroups = config.excluded_cgroups,
          .excluded_comms = config.excluded_comms,
          .min_wait_ns = config.min_wait_ns,
          .max_wait_ns = config.max_wait_ns,
          .sample_ns = config.sample_ns,
          .kinds = config.kinds,
          .kernel_threads = config.kernel_threads,
          .ledger = config.ledger,
          .oncpu_hz = config.oncpu_in_nmi ? 0 : config.oncpu_hz,
          .oncpu_in_nmi = config.oncpu_in_nmi,
          .wakers = config.wakers,
          .interval_ring_bytes = config.interval_ring_bytes,
          .capture_ring_bytes = config.capture_ring_bytes,
          .task_works_per_second = config.task_works_per_second,
          .capture_bytes_per_second = config.capture_bytes_per_second};
}

PipelineConfig PipelineConfigOf(const RecordConfig& config, const KernelFeatures& features) {
  PipelineConfig settings;
  settings.unwind = config.unwind;
  settings.window.per_thread = config.per_thread;
  settings.window.sample_ns = config.sample_ns;
  settings.window.oncpu_period_ns = OnCpuPeriodNs(config);
  settings.window.wakers = config.wakers;
  settings.open_waits = OpenWaitsConfigOf(config);
  settings.code_hash = features.vma_iter;
  settings.readers.deadline = std::chrono::milliseconds(config.target_deadline_ms);
  return settings;
}

}  // namespace offcpu
