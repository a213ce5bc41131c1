// A thread that naps in a process with many mappings: what CPU time each nap takes, from its own clock.
// Usage: mappings [--count N] [--executable] [--changing] [--seconds S]
//   --executable  every second one is
//   --changing    before each nap one of them becomes part of its neighbours or apart from them, and one comes or goes
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "target.h"

namespace {

constexpr uint64_t kNapNs = 2'000'000;
constexpr size_t kPage = 4096;

class Mappings {
 public:
  Mappings(size_t count, bool executable) : count_(count), other_(PROT_READ | (executable ? PROT_EXEC : 0)) {
    void* memory = mmap(nullptr, count * kPage, kUsual, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    target::Check(memory != MAP_FAILED, "mmap");
    memory_ = static_cast<char*>(memory);
    for (size_t i = 1; i < count; i += 2) Protect(i, other_);
  }

  void Change() {
    const size_t at = turn_ / 2 * 2 % count_ + 1;  // each goes and comes back
    Protect(at < count_ ? at : 1, turn_ % 2 == 0 ? kUsual : other_);
    if (turn_ % 2 == 0) {
      extra_ = mmap(nullptr, kPage, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    } else {
      munmap(extra_, kPage);
    }
    ++turn_;
  }

 private:
  static constexpr int kUsual = PROT_READ | PROT_WRITE;

  void Protect(size_t index, int protection) {
    target::Check(mprotect(memory_ + index * kPage, kPage, protection) == 0, "mprotect");
  }

  size_t count_;
  int other_;
  char* memory_ = nullptr;
  void* extra_ = nullptr;
  size_t turn_ = 0;
};

}  // namespace

TARGET_FUNCTION void mapped_nap() {
  target::SleepNs(kNapNs);
  TARGET_AFTER_CALL;
}

int main(int argc, char** argv) {
  Mappings mappings(static_cast<size_t>(target::Option(argc, argv, "--count", 3000)),
                    target::Flag(argc, argv, "--executable"));
  const bool is_changing = target::Flag(argc, argv, "--changing");
  std::vector<uint64_t> costs_ns;
  costs_ns.reserve(100'000);
  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 1));
  while (!target::Over()) {
    if (is_changing) mappings.Change();
    const uint64_t before_ns = target::ClockNs(CLOCK_THREAD_CPUTIME_ID);
    mapped_nap();
    costs_ns.push_back(target::ClockNs(CLOCK_THREAD_CPUTIME_ID) - before_ns);
  }
  std::sort(costs_ns.begin(), costs_ns.end());
  uint64_t sum_ns = 0;
  for (const uint64_t cost_ns : costs_ns) sum_ns += cost_ns;
  target::Value("naps", costs_ns.size());
  target::Value("mean_ns", sum_ns / costs_ns.size());
  target::Value("median_ns", costs_ns[costs_ns.size() / 2]);
  target::Value("p99_ns", costs_ns[costs_ns.size() * 99 / 100]);
  target::Value("longest_ns", costs_ns.back());
  target::DoneAndStay();
}
