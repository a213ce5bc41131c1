// Waits below very many functions of a recursion, which begins below two others. Usage: very_deep [--frames N]
// [--wait-ms N] [--seconds S]
#include <sys/resource.h>

#include "target.h"

namespace {

constexpr size_t kStackBytes = 64 << 20;

target::Sum sum;
target::Gate gate;
long frames;
uint64_t wait_ns;

}  // namespace

TARGET_FUNCTION void innermost() {
  while (!target::Over()) {
    const target::OffCpuTimer timer(sum);
    target::SleepNs(wait_ns);
  }
}

TARGET_FUNCTION void recurse(long left) {
  if (left == 1) {
    innermost();
  } else {
    recurse(left - 1);
  }
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void outermost() {
  recurse(frames);
  TARGET_AFTER_CALL;
}

namespace {

void* Run(void*) {
  gate.Pass();
  outermost();
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  frames = static_cast<long>(target::Option(argc, argv, "--frames", 100'000));
  wait_ns = static_cast<uint64_t>(target::Option(argc, argv, "--wait-ms", 1) * 1e6);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  target::Check(pthread_attr_setstacksize(&attributes, kStackBytes) == 0, "pthread_attr_setstacksize");
  pthread_t thread;
  target::Check(pthread_create(&thread, &attributes, Run, nullptr) == 0, "pthread_create");
  pthread_setname_np(thread, "very_deep");
  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  gate.Open();
  pthread_join(thread, nullptr);
  target::Measured("very_deep", "innermost", sum);
  target::DoneAndStay();
}
