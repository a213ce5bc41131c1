#include "recorder/record_config.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "bpf_programs/kernel.h"
#include "bpf_programs/programs.h"
#include "recorder/cost_keeper.h"
#include "recorder/open_waits.h"
#include "recorder/pipeline.h"

namespace offcpu {
namespace {

uint32_t Cpus() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

uint64_t OnCpuPeriodNs(const RecordConfig& config) {
  return config.oncpu_hz == 0 ? 0 : 1'000'000'000 / config.oncpu_hz;
}

OpenWaitsConfig OpenWaitsConfigOf(const RecordConfig& config) { return {config, config.show_sleepers}; }

void FitRings(uint32_t cpus, RecordConfig& config) {
  // An interval and its switch take 6 us at least (docs/performance.md), and 150 bytes: 6 MiB in a quarter of a second.
  constexpr uint64_t kIntervalBytesPerCpu = 8u << 20;
  const uint64_t capture_bytes_per_cpu = config.capture_bytes_per_second / 4;
  const auto fit = [cpus](uint64_t per_cpu, uint32_t bytes) {
    return static_cast<uint32_t>(std::min<uint64_t>(per_cpu * cpus, bytes));
  };
  config.interval_ring_bytes = fit(kIntervalBytesPerCpu, config.interval_ring_bytes);
  config.capture_ring_bytes = fit(capture_bytes_per_cpu, config.capture_ring_bytes);
}

CostKeeperConfig CostKeeperConfigOf(const RecordConfig& config) {
  return {.budget_ppm = config.cpu_budget_ppm, .cpus = Cpus(), .adapts_sample = config.adapts_sample};
}

namespace {

// At most 4.29 s, which is what the BPF programs can count: 25 % of 17 CPUs.
uint32_t ProcessNsPerSecond(const RecordConfig& config) {
  const uint64_t ns = uint64_t{config.process_ms_per_second} * 1'000'000 * Cpus();
  return static_cast<uint32_t>(std::min<uint64_t>(ns, UINT32_MAX));
}

}  // namespace

ProgramsConfig ProgramsConfigOf(const RecordConfig& config) {
  ProgramsConfig programs = {config};
  programs.is_sampled = config.adapts_sample || config.sample_ns != 0;
  programs.ledger = config.ledger;
  programs.oncpu_hz = config.oncpu_in_nmi ? 0 : config.oncpu_hz;
  programs.oncpu_in_nmi = config.oncpu_in_nmi;
  programs.hash_key = config.hash_key;
  programs.wakers = config.wakers;
  programs.proof_odds = config.proof_odds;
  programs.sums = config.sums;
  programs.per_thread = config.per_thread;
  programs.bucket_ns = config.bucket_ns;
  programs.interval_ring_bytes = config.interval_ring_bytes;
  programs.capture_ring_bytes = config.capture_ring_bytes;
  programs.task_works_per_second = config.task_works_per_second;
  programs.capture_bytes_per_second = config.capture_bytes_per_second;
  programs.mappings_per_second = config.mappings_per_second;
  programs.process_ns_per_second = ProcessNsPerSecond(config);
  return programs;
}

PipelineConfig PipelineConfigOf(const RecordConfig& config, const KernelFeatures& features) {
  PipelineConfig settings;
  settings.unwind = config.unwind;
  settings.max_frames = config.max_frames;
  settings.windows.window.per_thread = config.per_thread;
  settings.windows.window.bucket_ns = config.bucket_ns;
  settings.windows.window.oncpu_period_ns = OnCpuPeriodNs(config);
  // The stacks of wakers are needed as long after as a wait lasts.
  if (config.wakers) settings.stacks.remember_ns = settings.windows.window.join_ns;
  settings.windows.open_waits = OpenWaitsConfigOf(config);
  settings.targets.code_hash = features.mm_tree;
  settings.targets.deadline = std::chrono::milliseconds(config.target_deadline_ms);
  return settings;
}

}  // namespace offcpu
