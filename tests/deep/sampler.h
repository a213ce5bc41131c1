// A second profiler beside the one under test: samples every CPU on a clock, with kernel and user call chains. What it
// records is only counted. Needs root.
#ifndef OFFCPU_TESTS_DEEP_SAMPLER_H_
#define OFFCPU_TESTS_DEEP_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "os/owned_fd.h"

namespace offcpu::integration {

class Sampler {
 public:
  explicit Sampler(uint64_t samples_per_second);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Bytes of samples written so far, in units of the smallest sample there is.
  uint64_t samples() const;

 private:
  struct Cpu {
    OwnedFd event;
    void* ring;
  };
  std::vector<Cpu> cpus_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_SAMPLER_H_
