// The events that fire on every CPU at a frequency: cycles of the hardware where there is a PMU, else the CPU's clock.
// What fires is a program's business. Needs CAP_PERFMON. CPUs that come online later are not sampled.
#ifndef OFFCPU_BPF_PROGRAMS_SAMPLING_EVENTS_H_
#define OFFCPU_BPF_PROGRAMS_SAMPLING_EVENTS_H_

#include <bpf/libbpf.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace offcpu {

class SamplingEvents {
 public:
  // Attaches `program`, which is loaded, to an event on every CPU that is online. They fire from then on.
  static absl::StatusOr<std::unique_ptr<SamplingEvents>> Open(const bpf_program* program, uint32_t hz);
  ~SamplingEvents();
  SamplingEvents(const SamplingEvents&) = delete;
  SamplingEvents& operator=(const SamplingEvents&) = delete;

  void Disable();

  // The period on the CPUs' clock, which counts time that a CPU is idle, too; 0: cycles are counted.
  uint64_t clock_period_ns() const { return clock_period_ns_; }
  // What the events have counted on all CPUs. Without a sample that was missed it is the sum of the periods of all
  // samples, and a part of one a CPU.
  uint64_t counted() const;
  size_t cpus() const { return events_.size(); }

 private:
  struct LinkDeleter {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  };
  struct Event {
    int fd = -1;  // of the link
    std::unique_ptr<bpf_link, LinkDeleter> link;
  };
  SamplingEvents() = default;

  std::vector<Event> events_;
  uint64_t clock_period_ns_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_SAMPLING_EVENTS_H_
