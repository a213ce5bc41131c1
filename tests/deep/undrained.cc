#include "tests/deep/undrained.h"

#include <sys/resource.h>

#include <optional>
#include <utility>
#include <variant>

#include "bpf_programs/decode.h"
#include "bpf_programs/kernel.h"
#include "gtest/gtest.h"

namespace offcpu::integration {
namespace {

uint64_t Ns(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_usec) * 1000;
}

rusage OwnUsage() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

uint64_t CpuNs(const rusage& usage) { return Ns(usage.ru_utime) + Ns(usage.ru_stime); }
uint64_t Switches(const rusage& usage) { return static_cast<uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw); }

void Take(std::span<const std::byte> record, Undrained* all) {
  std::optional<Event> event = Decode(record);
  if (!event.has_value()) return;
  if (auto* interval = std::get_if<IntervalEvent>(&*event)) all->intervals.push_back(std::move(*interval));
  if (auto* sample = std::get_if<SampleEvent>(&*event)) all->samples.push_back(std::move(*sample));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Programs>> LoadFor(const RecordConfig& config) {
  const absl::StatusOr<KernelFeatures> features = ProbeKernel();
  if (!features.ok()) return features.status();
  return Programs::Load(ProgramsConfigOf(config), *features);
}

Undrained RecordUndrained(const LoadPrograms& load, Target& target) {
  Undrained all;
  const absl::StatusOr<std::unique_ptr<Programs>> programs = load();
  if (!programs.ok()) {
    ADD_FAILURE() << programs.status();
    return all;
  }
  const rusage before = OwnUsage();
  (*programs)->Arm();
  target.Go();
  target.AwaitDone();
  (*programs)->Disarm();
  const rusage after = OwnUsage();
  (*programs)->Settle();
  all.counters = (*programs)->ReadCounters();
  (*programs)->Drain([&all](std::span<const std::byte> record) { Take(record, &all); });
  target.End();
  const RecordedSpan span = (*programs)->span();
  all.recorded_ns = span.end_ns - span.start_ns;
  all.own_cpu_ns = CpuNs(after) - CpuNs(before);
  all.own_stretches = Switches(after) - Switches(before) + 1;
  all.ok = true;
  return all;
}

}  // namespace offcpu::integration
