#include "capture.h"

#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>

namespace offcpu {
namespace {

constexpr size_t kMaxBytes = 16 << 10;
constexpr int kDepth = 16;  // beside those that begin a thread

Captured captured;

__attribute__((noinline)) void Capture() {
  ucontext_t context;
  getcontext(&context);
  const greg_t* r = context.uc_mcontext.gregs;
  const int dwarf_order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                             REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (int i = 0; i < kRegisterCount; ++i) {
    captured.registers.value[static_cast<size_t>(i)] = static_cast<uint64_t>(r[dwarf_order[i]]);
  }
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* base = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &base, &size);
  pthread_attr_destroy(&attributes);
  const uint64_t above = reinterpret_cast<uint64_t>(base) + size - kHostMachine.SpOf(captured.registers);
  captured.stack.resize(std::min<uint64_t>(above, kMaxBytes));
  std::memcpy(captured.stack.data(), reinterpret_cast<const void*>(kHostMachine.SpOf(captured.registers)),
              captured.stack.size());
}

// Frames of different sizes and with saved registers, as of a real program.
template <int kLevel>
__attribute__((noinline)) uint64_t Descend(uint64_t a, uint64_t b) {
  volatile char room[16 + kLevel % 5 * 24];
  room[0] = static_cast<char>(a);
  uint64_t result;
  if constexpr (kLevel == 0) {
    Capture();
    result = b;
  } else {
    result = Descend<kLevel - 1>(a * 3 + b, b ^ kLevel);
  }
  return result * static_cast<uint64_t>(room[0]) + a * b;
}

void* Run(void*) {
  Descend<kDepth>(1, 2);
  return nullptr;
}

}  // namespace

const Captured& TwentyFrames() {
  if (captured.stack.empty()) {
    pthread_t thread;
    pthread_create(&thread, nullptr, Run, nullptr);
    pthread_join(thread, nullptr);
  }
  return captured;
}

}  // namespace offcpu
