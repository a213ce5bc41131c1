// How late a thread is back in its own code after its timer: on each CPU a real-time thread sleeps until the next turn
// of a period and looks at the clock. Prints quantiles over all of them, in microseconds: `latency P50 P99 P99.9 MAX
// TURNS`. scripts/bench-latency builds and runs it. Usage: wakeup_latency [SECONDS [PERIOD_US]]     as root
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr int kPriority = 80;  // as cyclictest's users ask for: above all that is not

uint64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecondNs + static_cast<uint64_t>(now.tv_nsec);
}

bool TakeCpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  const sched_param parameters = {.sched_priority = kPriority};
  return sched_setaffinity(0, sizeof(set), &set) == 0 &&
         pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
}

void Measure(uint64_t end_ns, uint64_t period_ns, std::vector<uint64_t>* latencies_ns) {
  for (uint64_t turn_ns = NowNs() + period_ns; turn_ns < end_ns; turn_ns += period_ns) {
    const timespec turn = {static_cast<time_t>(turn_ns / kSecondNs), static_cast<long>(turn_ns % kSecondNs)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &turn, nullptr);
    const uint64_t now_ns = NowNs();
    latencies_ns->push_back(now_ns - turn_ns);
    while (turn_ns + period_ns < now_ns) turn_ns += period_ns;  // turns that were missed are one that came late
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t length_ns = static_cast<uint64_t>((argc > 1 ? std::atof(argv[1]) : 5) * 1e9);
  const uint64_t period_ns = static_cast<uint64_t>(argc > 2 ? std::atoi(argv[2]) : 1000) * 1000;
  if (length_ns == 0 || period_ns == 0) {
    std::fprintf(stderr, "usage: wakeup_latency [SECONDS [PERIOD_US]]\n");
    return 2;
  }
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  std::vector<std::vector<uint64_t>> by_cpu(CPU_SETSIZE);
  std::vector<std::thread> threads;
  const uint64_t end_ns = NowNs() + length_ns;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::vector<uint64_t>* latencies_ns = &by_cpu[static_cast<size_t>(cpu)];
    latencies_ns->reserve(length_ns / period_ns + 1);
    threads.emplace_back([=] {
      if (TakeCpu(cpu)) Measure(end_ns, period_ns, latencies_ns);
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::vector<uint64_t> all_ns;
  for (const std::vector<uint64_t>& latencies_ns : by_cpu) {
    all_ns.insert(all_ns.end(), latencies_ns.begin(), latencies_ns.end());
  }
  if (all_ns.empty()) {
    std::fprintf(stderr, "wakeup_latency: no turns: it needs root\n");
    return 1;
  }
  std::sort(all_ns.begin(), all_ns.end());
  const auto quantile_us = [&](uint64_t permille) {
    return static_cast<double>(all_ns[std::min(all_ns.size() - 1, all_ns.size() * permille / 1000)]) / 1e3;
  };
  std::printf("latency %.1f %.1f %.1f %.1f %zu\n", quantile_us(500), quantile_us(990), quantile_us(999),
              quantile_us(1000), all_ns.size());
}
