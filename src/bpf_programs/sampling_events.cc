#include "bpf_programs/sampling_events.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bpf_programs/errno_status.h"
#include "os/owned_fd.h"

namespace offcpu {
namespace {

int OpenEvent(perf_event_attr attributes, int cpu) {
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr Cycles(uint32_t hz) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.freq = 1;
  attributes.sample_freq = hz;
  attributes.disabled = 1;
  return attributes;
}

// By a period: the frequency of an event is adjusted to what it counts, and this one counts time.
perf_event_attr Clock(uint32_t hz) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = 1'000'000'000 / hz;
  attributes.disabled = 1;
  return attributes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SamplingEvents>> SamplingEvents::Open(const bpf_program* program, uint32_t hz) {
  std::unique_ptr<SamplingEvents> events(new SamplingEvents());
  perf_event_attr attributes = Cycles(hz);
  const int cpus = libbpf_num_possible_cpus();
  for (int cpu = 0; cpu < cpus; ++cpu) {
    int fd = OpenEvent(attributes, cpu);
    const bool is_no_pmu = fd < 0 && (errno == ENOENT || errno == EOPNOTSUPP || errno == EINVAL);
    if (is_no_pmu && events->events_.empty() && attributes.type == PERF_TYPE_HARDWARE) {
      attributes = Clock(hz);
      events->clock_period_ns_ = attributes.sample_period;
      fd = OpenEvent(attributes, cpu);
    }
    if (fd < 0 && errno == ENODEV) continue;  // offline
    if (fd < 0) return ErrnoStatus("cannot open a sampling event", errno);
    OwnedFd event(fd);
    bpf_link* link = bpf_program__attach_perf_event(program, fd);  // owns the event then
    if (link == nullptr) return ErrnoStatus("cannot attach the sampling program", errno);
    events->events_.push_back({.fd = event.release(), .link = {link, {}}});
  }
  return events;
}

SamplingEvents::~SamplingEvents() = default;

void SamplingEvents::Disable() {
  for (const Event& event : events_) ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t SamplingEvents::counted() const {
  uint64_t sum = 0;
  for (const Event& event : events_) {
    uint64_t count = 0;
    if (read(event.fd, &count, sizeof(count)) == sizeof(count)) sum += count;
  }
  return sum;
}

}  // namespace offcpu
