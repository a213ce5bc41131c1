// What a recording is asked for, and what that means to the parts that make it. Plain data and pure functions.
#ifndef OFFCPU_RECORDER_RECORD_CONFIG_H_
#define OFFCPU_RECORDER_RECORD_CONFIG_H_

#include <cstdint>
#include <optional>

#include "bpf_programs/selection.h"
#include "bpf_programs/stack_ids.h"
#include "unwind/unwind_order.h"
#include "unwind/walk.h"

namespace offcpu {

struct CostKeeperConfig;
struct KernelFeatures;
struct OpenWaitsConfig;
struct PipelineConfig;
struct ProgramsConfig;

struct RecordConfig : Selection {
  // Intervals shorter than a time T are sampled with the probability length / T, and those that are sampled stand for T
  // each, so that sums are right on average and long intervals exactly. This is T; 0: every interval is recorded.
  uint64_t sample_ns = 0;
  // Each user has a T of its own instead, which is 0 as long as recording keeps its budget: a part of all CPUs.
  bool adapts_sample = false;
  uint64_t cpu_budget_ppm = 10'000;
  UnwindOrder unwind;
  uint64_t max_frames = kMaxFrames;       // that are kept of a user stack, see kept_frames.h
  bool per_thread = false;                // rows tell the threads of a process apart
  uint64_t bucket_ns = 1'000'000'000;     // how wide time buckets are, as long as these are not too many
  bool show_sleepers = true;              // threads that never run have rows; else they are only counted
  bool ledger = false;                    // account for all the time of every thread
  uint32_t oncpu_hz = 0;                  // samples of what runs, a second and CPU; 0: none
  std::optional<wire_hash_key> hash_key;  // see ProgramsConfig
  bool oncpu_in_nmi = false;              // in every NMI there is, each for a period of oncpu_hz: for tests
  bool wakers = false;                    // tell who ended each wait
  bool service_names = false;             // read what processes are called as services: see service_name.h

  // A capture proves one in `proof_odds` walks of user stacks in BPF programs; 0: none is walked there.
  bool sums = true;
  uint32_t proof_odds = 1000;

  // Limits.
  uint32_t interval_ring_bytes = 32u << 20;
  uint32_t capture_ring_bytes = 32u << 20;
  uint32_t queue_bytes = 128u << 20;              // between the reader and the worker
  uint32_t task_works_per_second = 1000;          // per CPU; each costs an interrupt
  uint64_t capture_bytes_per_second = 16u << 20;  // per CPU
  uint32_t mappings_per_second = 50'000;          // per CPU, looked at by captures; each takes some 300 ns
  uint32_t process_ms_per_second = 250;  // per CPU of the host: what captures may take of one process's threads
  uint32_t target_deadline_ms = 1000;    // for one snapshot of one process
  uint32_t finish_ms = 30'000;           // at the end, with snapshots and readings that are under way
  uint32_t live_after_ms = 10'000;       // a wait of that length has its stack read while it lasts; 0: only at the end
};

// Makes the rings as large as `cpus` CPUs of the host can fill in a quarter of a second, and no larger than they are.
void FitRings(uint32_t cpus, RecordConfig& config);
CostKeeperConfig CostKeeperConfigOf(const RecordConfig& config);
ProgramsConfig ProgramsConfigOf(const RecordConfig& config);
PipelineConfig PipelineConfigOf(const RecordConfig& config, const KernelFeatures& features);
OpenWaitsConfig OpenWaitsConfigOf(const RecordConfig& config);
uint64_t OnCpuPeriodNs(const RecordConfig& config);  // that a sample stands for; 0: there are none

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_RECORD_CONFIG_H_
