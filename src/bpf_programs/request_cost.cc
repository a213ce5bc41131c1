#include "bpf_programs/request_cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "bpf_programs/bpf_object.h"

namespace offcpu {
namespace {

// What is measured once in a while takes much longer, because the thread was preempted: medians leave that out.
constexpr int kRounds = 15;
using Times = std::array<uint64_t, kRounds>;

// How long a call of the program takes until it is back in user mode, which is behind the task work.
std::optional<uint64_t> CallNs(int program, uint64_t asks) {
  auto run = BpfOptions<bpf_test_run_opts>();
  run.ctx_in = &asks;
  run.ctx_size_in = sizeof(asks);
  const auto began = std::chrono::steady_clock::now();
  if (bpf_prog_test_run_opts(program, &run) != 0 || run.retval != asks) return std::nullopt;
  return static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count());
}

uint64_t Median(Times& times) {
  const auto middle = times.begin() + kRounds / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

uint64_t MeasureRequestNs(const bpf_program* program) {
  const int fd = bpf_program__fd(program);
  Times asking = {};
  Times not_asking = {};
  for (size_t i = 0; i < kRounds; ++i) {
    const std::optional<uint64_t> with = CallNs(fd, 1);
    const std::optional<uint64_t> without = CallNs(fd, 0);
    if (!with.has_value() || !without.has_value()) return 0;
    asking[i] = *with;
    not_asking[i] = *without;
  }
  const uint64_t call_ns = Median(not_asking);
  return std::max(Median(asking), call_ns) - call_ns;
}

}  // namespace offcpu
