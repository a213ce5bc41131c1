// Waits whose stacks do not lie in one place: behind a large frame, on stacks of signal handlers, or on that of a
// context. A thread calls outer_3 to outer_1, then what the place is, then inner_3 to inner_1, which sleep.
// Usage: far_stacks [--seconds S] large BYTES | split | handler | handler_in_handler | context | marked |
//        fiber | marked_fiber
//   large               a frame of BYTES is between them, of which only the ends are used
//   split               likewise one of which a part is left out of core dumps, so that the stack is three mappings
//   handler             inner is called by a signal handler on an alternate stack, which interrupts outer
//   handler_in_handler  likewise by one that interrupts another one, each on an alternate stack
//   context             inner is called by a function that makecontext has given a stack, on which outer has no part
//   marked              likewise, by a function whose row says that nobody calls it
//   fiber               as context, by boost.context
//   marked_fiber        as marked, likewise
#include <alloca.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <initializer_list>

#include "target.h"

namespace {

constexpr uint64_t kWaitNs = 1'000'000;
constexpr size_t kStackBytes = 256 << 10;

target::Sum sum;
const char* place;
size_t frame_bytes;
char* stacks;  // of handlers or the context, one after the other

}  // namespace

TARGET_FUNCTION void inner_1() {
  const target::OffCpuTimer timer(sum);
  target::SleepNs(kWaitNs);
}
TARGET_FUNCTION void inner_2() {
  inner_1();
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void inner_3() {
  inner_2();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void large_frame() {
  auto* bytes = static_cast<volatile char*>(alloca(frame_bytes));
  bytes[frame_bytes - 1] = 1;
  inner_3();
  bytes[frame_bytes - 1] = bytes[frame_bytes - 1] + 1;
}

TARGET_FUNCTION void split_frame() {
  constexpr size_t kPage = 4096;
  auto* bytes = static_cast<volatile char*>(alloca(4 * kPage));
  char* page = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(bytes) + 2 * kPage) & ~(kPage - 1));
  bytes[4 * kPage - 1] = *page = 1;
  target::Check(madvise(page, kPage, MADV_DONTDUMP) == 0, "madvise");
  inner_3();
  bytes[4 * kPage - 1] = bytes[4 * kPage - 1] + 1;
}

namespace {

// The kernel takes the stack away while a handler is on it, so that the handler may give another one.
void GiveStack(int number) {
  stack_t stack = {};
  stack.ss_sp = stacks + kStackBytes * static_cast<size_t>(number);
  stack.ss_size = kStackBytes;
  stack.ss_flags = static_cast<int>(SS_ONSTACK | (1U << 31));  // SS_AUTODISARM
  target::Check(sigaltstack(&stack, nullptr) == 0, "sigaltstack");
}

}  // namespace

TARGET_FUNCTION void second_handler(int) {
  inner_3();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void first_handler(int) {
  if (strcmp(place, "handler") == 0) {
    inner_3();
  } else {
    GiveStack(1);
    raise(SIGUSR2);
  }
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void context_base() {
  inner_3();
  TARGET_AFTER_CALL;
}

// As libraries with stacks of their own mark where these begin.
TARGET_FUNCTION void marked_base() {
#if defined(__x86_64__)
  asm volatile(".cfi_undefined rip");
#else
  asm volatile(".cfi_undefined eip");
#endif
  inner_3();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void enter_context() {
  ucontext_t outer;
  ucontext_t context;
  target::Check(getcontext(&context) == 0, "getcontext");
  context.uc_stack.ss_sp = stacks;
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = &outer;
  makecontext(&context, strcmp(place, "marked") == 0 ? marked_base : context_base, 0);
  target::Check(swapcontext(&outer, &context) == 0, "swapcontext");
}

// What libboost_context has, which is not needed to build this.
namespace {

struct Transfer {
  void* from;
  void* data;
};
using MakeFiber = void* (*)(void* stack_end, size_t bytes, void (*base)(Transfer));
using SwitchTo = Transfer (*)(void* to, void* data);

SwitchTo switch_to;

template <typename Function>
Function FromBoost(const char* name) {
  static void* const library = dlopen("libboost_context.so", RTLD_NOW);
  target::Check(library != nullptr, "dlopen of libboost_context.so");
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

TARGET_FUNCTION void fiber_base(Transfer transfer) {
  inner_3();
  switch_to(transfer.from, nullptr);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void marked_fiber_base(Transfer transfer) {
#if defined(__x86_64__)
  asm volatile(".cfi_undefined rip");
#endif
  inner_3();
  switch_to(transfer.from, nullptr);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void enter_fiber() {
  const auto make = FromBoost<MakeFiber>("make_fcontext");
  switch_to = FromBoost<SwitchTo>("jump_fcontext");
  void (*const base)(Transfer) = strcmp(place, "marked_fiber") == 0 ? marked_fiber_base : fiber_base;
  switch_to(make(stacks + kStackBytes, kStackBytes, base), nullptr);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void outer_1() {
  if (strcmp(place, "large") == 0) {
    large_frame();
  } else if (strcmp(place, "split") == 0) {
    split_frame();
  } else if (strcmp(place, "context") == 0 || strcmp(place, "marked") == 0) {
    enter_context();
  } else if (strcmp(place, "fiber") == 0 || strcmp(place, "marked_fiber") == 0) {
    enter_fiber();
  } else {
    GiveStack(0);
    raise(SIGUSR1);
  }
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void outer_2() {
  outer_1();
  TARGET_AFTER_CALL;
}
TARGET_FUNCTION void outer_3() {
  outer_2();
  TARGET_AFTER_CALL;
}

namespace {

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  target::Check(sigaction(signal, &action, nullptr) == 0, "sigaction");
}

target::Gate gate;

void* Run(void*) {
  gate.Pass();
  while (!target::Over()) outer_3();
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* name :
       {"large", "split", "handler", "handler_in_handler", "context", "marked", "fiber", "marked_fiber"}) {
    if (target::Flag(argc, argv, name)) place = name;
  }
  if (place == nullptr) return 2;
  frame_bytes = static_cast<size_t>(target::Option(argc, argv, "large", 0));
  void* memory = mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  target::Check(memory != MAP_FAILED, "mmap");
  stacks = static_cast<char*>(memory);
  Handle(SIGUSR1, first_handler);
  Handle(SIGUSR2, second_handler);
  pthread_t thread;
  target::Check(pthread_create(&thread, nullptr, Run, nullptr) == 0, "pthread_create");
  pthread_setname_np(thread, "far");
  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  gate.Open();
  pthread_join(thread, nullptr);
  target::Measured("far", "inner_1", sum);
  target::DoneAndStay();
}
