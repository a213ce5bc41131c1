#include "tests/deep/sampler.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gtest/gtest.h"

namespace offcpu::integration {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kRingBytes = (1 + 64) * kPage;
// Header, pid and tid, and the count of a call chain with one address.
constexpr uint64_t kSmallestSample = sizeof(perf_event_header) + 8 + 8 + 8;

}  // namespace

Sampler::Sampler(uint64_t samples_per_second) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.freq = 1;
  attributes.sample_freq = samples_per_second;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  for (int cpu = 0; cpu < count; ++cpu) {
    OwnedFd event(static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    EXPECT_TRUE(event) << std::strerror(errno);
    // Mapped for reading only, the ring is overwritten and needs no reader; a writable one would stop when full.
    void* ring = mmap(nullptr, kRingBytes, PROT_READ, MAP_SHARED, event.get(), 0);
    EXPECT_NE(ring, MAP_FAILED) << std::strerror(errno);
    if (ring != MAP_FAILED) cpus_.push_back({std::move(event), ring});
  }
}

Sampler::~Sampler() {
  for (const Cpu& cpu : cpus_) munmap(cpu.ring, kRingBytes);
}

uint64_t Sampler::samples() const {
  uint64_t bytes = 0;
  for (const Cpu& cpu : cpus_) bytes += static_cast<const perf_event_mmap_page*>(cpu.ring)->data_head;
  return bytes / kSmallestSample;
}

}  // namespace offcpu::integration
