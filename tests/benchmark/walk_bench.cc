// Whole walks of one captured stack: ours with known rows and with every row asked for anew, libdw's and libunwind's.
#include <benchmark/benchmark.h>
#include <elfutils/libdwfl.h>
#include <libunwind.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "capture.h"
#include "process/address_space.h"
#include "unwind/walk.h"

namespace offcpu {
namespace {

std::shared_ptr<const AddressSpace> Self() {
  static ModuleCache modules;
  static const auto self = LoadAddressSpace(getpid(), nullptr, modules).value();
  return self;
}

size_t Walk(Walker& walker, UserStack* stack, WalkTrace* trace = nullptr) {
  const Captured& captured = TwentyFrames();
  const SpanMemory memory(captured.begin(), captured.stack);
  walker.Walk(*Self(), captured.registers, false,
              {.memory = memory, .begin = captured.begin(), .end = captured.end(), .more = false}, stack, trace);
  return stack->frames.size();
}

void CheckSame(size_t frames, benchmark::State& state) {
  Walker walker(kX86_64);
  UserStack stack;
  const size_t ours = Walk(walker, &stack);
  if (stack.end != EndReason::kComplete) state.SkipWithError("our walk is not complete");
  if (frames != ours) state.SkipWithError(absl::StrCat(frames, " frames, not ", ours).c_str());
  state.counters["frames"] = static_cast<double>(frames);
  state.counters["per_frame"] =
      benchmark::Counter(static_cast<double>(frames) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_WalkCached(benchmark::State& state) {
  Walker walker(kX86_64);
  UserStack stack;
  size_t frames = Walk(walker, &stack);
  for (auto _ : state) benchmark::DoNotOptimize(frames = Walk(walker, &stack));
  CheckSame(frames, state);
}
BENCHMARK(BM_WalkCached);

// Rows asked for anew, from tables that are open.
void BM_WalkColdEhFrame(benchmark::State& state) {
  Walker walker(kX86_64, {}, {.rows = 0});
  UserStack stack;
  size_t frames = Walk(walker, &stack);
  for (auto _ : state) benchmark::DoNotOptimize(frames = Walk(walker, &stack));
  CheckSame(frames, state);
}
BENCHMARK(BM_WalkColdEhFrame);

// libdw and libunwind get their memory through these: the stack from the copy, all else as it is.
bool ReadWord(uint64_t address, uint64_t* value) {
  const Captured& captured = TwentyFrames();
  if (address >= captured.begin() && address - captured.begin() <= captured.stack.size() - sizeof(*value)) {
    std::memcpy(value, captured.stack.data() + (address - captured.begin()), sizeof(*value));
  } else {
    std::memcpy(value, reinterpret_cast<const void*>(address), sizeof(*value));
  }
  return true;
}

pid_t NextThread(Dwfl*, void* argument, void** thread_argument) {
  if (*thread_argument != nullptr) return 0;
  *thread_argument = argument;
  return getpid();
}
bool ReadMemory(Dwfl*, Dwarf_Addr address, Dwarf_Word* value, void*) { return ReadWord(address, value); }
bool SetRegisters(Dwfl_Thread* thread, void*) {
  const auto& value = TwentyFrames().registers.value;
  return dwfl_thread_state_registers(thread, 0, kRegisterCount, value.data());
}
int CountFrame(Dwfl_Frame* frame, void* count) {
  Dwarf_Addr pc = 0;
  bool activation = false;
  if (!dwfl_frame_pc(frame, &pc, &activation)) return DWARF_CB_ABORT;
  ++*static_cast<size_t*>(count);
  return DWARF_CB_OK;
}

void BM_WalkLibdw(benchmark::State& state) {
  static char* debug_path = nullptr;
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo,
                                           .section_address = nullptr,
                                           .debuginfo_path = &debug_path};
  static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = NextThread,
                                                         .get_thread = nullptr,
                                                         .memory_read = ReadMemory,
                                                         .set_initial_registers = SetRegisters,
                                                         .detach = nullptr,
                                                         .thread_detach = nullptr};
  Dwfl* dwfl = dwfl_begin(&callbacks);
  int dummy = 0;
  if (dwfl_linux_proc_report(dwfl, getpid()) != 0 || dwfl_report_end(dwfl, nullptr, nullptr) != 0 ||
      !dwfl_attach_state(dwfl, nullptr, getpid(), &thread_callbacks, &dummy)) {
    state.SkipWithError(dwfl_errmsg(-1));
    return;
  }
  size_t frames = 0;
  dwfl_getthread_frames(dwfl, getpid(), CountFrame, &frames);  // opens what it needs
  for (auto _ : state) {
    frames = 0;
    dwfl_getthread_frames(dwfl, getpid(), CountFrame, &frames);
  }
  CheckSame(frames, state);
  dwfl_end(dwfl);
}
BENCHMARK(BM_WalkLibdw);

int AccessMemory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void*) {
  return !write && ReadWord(address, value) ? 0 : -UNW_EINVAL;
}
int AccessRegister(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void*) {
  if (write || number < 0 || number >= kRegisterCount) return -UNW_EBADREG;
  *value = TwentyFrames().registers.value[static_cast<size_t>(number)];
  return 0;
}
int FindProcInfo(unw_addr_space_t, unw_word_t ip, unw_proc_info_t* info, int need_unwind_info, void* argument) {
  return unw_get_accessors(unw_local_addr_space)
      ->find_proc_info(unw_local_addr_space, ip, info, need_unwind_info, argument);
}
void PutUnwindInfo(unw_addr_space_t, unw_proc_info_t* info, void* argument) {
  unw_get_accessors(unw_local_addr_space)->put_unwind_info(unw_local_addr_space, info, argument);
}
int NoDynamicInfo(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

void BM_WalkLibunwind(benchmark::State& state) {
  unw_accessors_t accessors = {};
  accessors.find_proc_info = FindProcInfo;
  accessors.put_unwind_info = PutUnwindInfo;
  accessors.get_dyn_info_list_addr = NoDynamicInfo;
  accessors.access_mem = AccessMemory;
  accessors.access_reg = AccessRegister;
  unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
  unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
  size_t frames = 0;
  for (auto _ : state) {
    unw_cursor_t cursor;
    frames = 0;
    if (unw_init_remote(&cursor, space, nullptr) != 0) {
      state.SkipWithError("unw_init_remote");
      break;
    }
    do ++frames;
    while (unw_step(&cursor) > 0);
  }
  CheckSame(frames, state);
  unw_destroy_addr_space(space);
}
BENCHMARK(BM_WalkLibunwind);

}  // namespace
}  // namespace offcpu
